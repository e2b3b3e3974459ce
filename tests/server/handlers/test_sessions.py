"""Who may do what with whose process, and what is kept for whom."""

import json

import pytest

from tests.server.speaking import speak

pytestmark = pytest.mark.timeout(30)


def do(what, **more):
    return {"do": what, **more}


@pytest.fixture
async def ada(server):
    async with await speak(server, "ada") as speaker:
        yield speaker


@pytest.fixture
async def bob(server):
    async with await speak(server, "bob") as speaker:
        yield speaker


async def test_values_say_of_what_kind_they_are(ada):
    for value, format, text in (("a", "text", "a"), ({"a": 1}, "json", '{"a": 1}'), (None, "none", "")):
        process = await ada.launch(do("value", value=value))
        assert (await ada.events(process))[-1] == {
            "type": "process_event", "process_id": process, "event": "return", "value": text, "format": format,
        }  # fmt: skip


async def test_a_failure_names_its_class(ada):
    process = await ada.launch(do("fail"))
    last = (await ada.events(process))[-1]
    assert (last["value"], last["error_type"]) == ("no", "ValueError")


async def test_others_see_and_touch_nothing(ada, bob):
    process = await ada.launch(do("echo"))
    assert process not in [row["id"] for row in await bob.json("list_processes")]
    for request in ("attach_process", "terminate_process"):
        assert await bob.ask(request, process_id=process) == (False, "Permission denied")
    await bob.send(type="signal_process", process_id=process, message="from bob")
    await bob.ask("ping")
    await ada.send(type="signal_process", process_id=process, message="from ada")
    assert (await ada.event(process))["value"] == "from ada"


async def test_local_connections_are_admins_and_act_for_whom_they_say(server, ada):
    process = await ada.launch(do("wait"))
    async with await speak(server, unix=True) as root:
        assert process in [row["id"] for row in await root.json("list_processes")]
        assert await root.ask("auth_identify", username="carl") == (
            True,
            "Authenticated (Engine disabled authentication)",
        )
        own = await root.launch(do("who"))
        assert (await root.events(own))[-1]["value"] == "carl"
        assert await root.ask("terminate_process", process_id=process) == (True, "Process terminated")
    assert (await ada.events(process))[-1]["value"] == "Signal"


async def test_one_connection_is_attached_at_a_time(server, ada):
    process = await ada.launch(do("wait"))
    async with await speak(server, "ada") as other:
        assert await other.ask("attach_process", process_id=process) == (False, "Cannot attach: already attached")
        assert await ada.ask("attach_process", process_id=process) == (True, "Process attached")
        assert await ada.ask("detach_process", process_id=process) == (True, "Process detached")
        assert await other.ask("attach_process", process_id=process) == (True, "Process attached")
        await other.ask("terminate_process", process_id=process)


async def test_what_a_vanished_client_missed_is_replayed_in_order(server, ada):
    async with await speak(server, "ada") as first:
        process = await first.launch(do("echo"))
        first.socket.transport.abort()
    await ada.send(type="signal_process", process_id=process, message="hello")
    while (await ada.query("process_result", {"process_id": process}))["state"] == "running":
        pass
    assert await ada.ask("attach_process", process_id=process) == (True, "Process attached")
    assert [frame["value"] for frame in await ada.events(process)] == ["hello", ""]
    assert await ada.ask("attach_process", process_id=process) == (True, "Process attached")
    assert [frame["value"] for frame in await ada.events(process)] == [""]


async def test_output_of_a_child_can_be_read(ada):
    process = await ada.launch(do("child", child="talk"))
    await ada.events(process)
    listing = (await ada.query("processes", {"all": True}))["processes"]
    (child,) = [row["id"] for row in listing if row["parent"] == process]
    await ada.ask("attach_process", process_id=child)
    assert {frame["value"] for frame in await ada.events(child)} >= {"out\n", "err\n", '{"a":1}'}


async def test_listings_come_in_pages(ada):
    processes = [await ada.launch(do("wait")) for _ in range(3)]
    first = await ada.query("processes", {"limit": 2})
    assert len(first["processes"]) == 2
    rest = await ada.query("processes", {"after": first["next"], "limit": 100})
    shown = [row["id"] for row in first["processes"] + rest["processes"]]
    assert set(processes) <= set(shown)
    assert rest["next"] is None
    found = await ada.query("processes", {"id_prefix": processes[0][:8]})
    assert [row["id"] for row in found["processes"]] == [processes[0]]
    for process in processes:
        await ada.ask("terminate_process", process_id=process)


async def test_recorded_output_can_be_asked_for(ada, bob):
    process = await ada.launch(do("count", n=5))
    await ada.events(process)
    answer = await ada.query("process_output", {"process_id": process, "after": 2, "limit": 2})
    assert [(line["sequence"], line["event"], line["value"]) for line in answer["events"]] == [
        (3, "message", "2"),
        (4, "message", "3"),
    ]
    ok, result = await bob.ask("query", subject="process_output", record=json.dumps({"process_id": process}))
    assert (ok, result) == (False, "Permission denied")


async def test_logs_are_listed_for_whoever_may_read_them(ada, bob):
    process = await ada.launch(do("talk"))
    await ada.events(process)
    (found,) = (await ada.query("process_logs", {"id_prefix": process[:8].upper()}))["logs"]
    assert (found["process"], found["username"], found["program"]) == (process, "ada", "player@0.1.0")
    assert (await bob.query("process_logs", {"id_prefix": process[:8]}))["logs"] == []


async def test_bids_and_suspension(ada):
    process = await ada.launch(do("wait"))
    assert (await ada.event(process))["value"] == "waiting"  # it runs
    assert await ada.ask("set_bid", process_id=process, bid=0.5) == (True, "Bid of 0 contexts set to 0.5")
    assert await ada.ask("suspend_process", process_id=process) == (True, "0 contexts suspended")
    ok, result = await ada.ask("set_bid", process_id=process, bid=-1.0)
    assert not ok
    await ada.ask("terminate_process", process_id=process)
    await ada.events(process)
    ok, result = await ada.ask("set_bid", process_id=process, bid=1.0)
    assert (ok, result) == (False, f"process {process}: it is killed")


@pytest.mark.parametrize("subject", ["market", "pages", "sessions", "mcp_servers", "programs"])
async def test_every_subject_answers_an_object(ada, subject):
    assert isinstance(await ada.query(subject), dict)


async def test_programs_tell_their_parameters(ada):
    (found,) = (await ada.query("programs", {"name": "player"}))["programs"]
    assert (found["version"], found["owner"]) == ("0.1.0", "local")


async def test_a_record_with_unknown_options_is_refused(ada):
    ok, result = await ada.ask("query", subject="processes", record='{"limits": 1}')
    assert not ok
    assert "unknown field `limits`" in result


async def test_a_program_can_be_removed(ada):
    manifest = '[package]\nname = "short"\nversion = "1.0.0"\n'
    assert await ada.upload(b"async def main(input): pass\n", manifest) == (True, "Program installed successfully")
    assert await ada.ask("remove_program", name="short", version="1.0.0") == (True, "Program short@1.0.0 removed")
    assert await ada.ask("check_program", name="short", version="1.0.0") == (True, "false")


async def test_what_runs_for_a_request_ends_with_its_connection(server, ada):
    async with await speak(server, "ada") as other:
        await other.begin("run_processes", inferlet="player", inputs=['{"do": "wait"}'] * 2)
        while len(mine := await ada.json("list_processes")) < 2:
            pass
        other.socket.transport.abort()
    for row in mine:
        while (await ada.query("process_result", {"process_id": row["id"]}))["state"] == "running":
            pass
        assert (await ada.query("process_result", {"process_id": row["id"]}))["error"] == "cancelled"  # 1.6
