import asyncio
import errno
import json
import os
import uuid

import pytest

from pie_mlx.engine.inspection import process_statuses, set_bid, suspend
from pie_mlx.errors import AdmissionError, InvalidArgumentError, LaunchError, ProcessError
from pie_mlx.events import ProcessFailed, ProcessReturned
from pie_mlx.runtime.program.program import find_program
from pie_mlx.runtime.registry import KeptLimits, Launch, result_of, row_of
from tests.runtime.registry.conftest import ADA, ADMIN, BOB, Listener, is_over, texts
from tests.untimed import untimed


def do(what, **more):
    return json.dumps({"do": what, **more})


async def listed(player, record):
    return row_of(record, (await player.engine.consult(process_statuses)).get(record.id))


async def test_an_attached_client_is_told_everything_and_last_how_it_ended(player):
    listener = Listener()
    record = player.launch(do("print"), listener=listener)
    await listener.until(is_over)
    assert texts(listener.events) == ["line 0", "printed\n"]
    assert untimed(listener.events[-1]) == ProcessReturned(record.id, "done", "text")
    assert result_of(record).value == "done"


async def test_a_message_sent_before_the_program_runs_is_not_lost(player):
    listener = Listener()
    record = player.launch(do("echo"), listener=listener)
    assert player.registry.send(record, "early")
    await listener.until(is_over)
    assert texts(listener.events) == ["early"]


async def test_files_go_both_ways(player):
    listener = Listener()
    record = player.launch(do("file"), listener=listener)
    player.registry.send_file(record, b"abc")
    await listener.until(is_over)
    assert listener.files == [b"cba"]
    assert listener.events[0].name == "back.bin"


async def test_what_happens_while_nobody_listens_is_replayed(player):
    record = player.launch(do("print", n=3))
    await record.ended.wait()
    listener = Listener()
    replay = [event for event, _ in player.registry.attach(record, listener)]
    assert texts(replay) == ["line 0", "line 1", "line 2", "printed\n"]
    assert is_over(replay)  # 1.8


async def test_a_second_attach_to_a_finished_process_gets_the_last_event(player):
    record = player.launch(do("print"))
    await record.ended.wait()
    player.registry.attach(record, Listener())
    assert player.registry.attach(record, Listener()) == [(record.terminal, b"")]


async def test_what_is_dropped_is_counted_in_the_first_event(make_player):
    player = make_player(kept=KeptLimits(events=3))
    record = player.launch(do("print", n=10))
    await record.ended.wait()
    replay = [event for event, _ in player.registry.attach(record, Listener())]
    assert replay[0].text == "[pie] 9 earlier events were dropped\n"
    assert texts(replay[1:]) == ["line 9", "printed\n"]


async def test_what_is_kept_of_all_processes_is_bounded(make_player):
    player = make_player(kept_total_bytes=100)
    records = []
    for _ in range(20):
        records.append(player.launch(do("print", n=3)))
        await records[-1].ended.wait()
    assert sum(record.kept.size_bytes for record in records if len(record.kept) > 1) <= 100
    replay = [event for event, _ in player.registry.attach(records[0], Listener())]
    assert replay[0].text == "[pie] 4 earlier events were dropped\n"
    assert is_over(replay)


async def test_output_is_not_kept_when_it_is_not_captured(player):
    record = player.launch(do("print"), captures=False)
    await record.ended.wait()
    replay = [event for event, _ in player.registry.attach(record, Listener())]
    assert texts(replay) == ["line 0"]  # 1.6
    assert [line.event for line in player.registry.logs.read(record.id)] == ["message", "stdout", "return"]


async def test_a_launch_that_failed_leaves_no_log_and_no_descriptor(player, monkeypatch):
    async def refuse(*arguments, **options):
        raise OSError(errno.ENOSPC, "no space left on device")

    monkeypatch.setattr(player.engine, "launch", refuse)
    before = os.listdir("/dev/fd")
    with pytest.raises(OSError, match="no space"):
        await player.registry.launch_at_once(ADA, Launch(player.program, do("print")))
    assert os.listdir("/dev/fd") == before
    assert player.registry.logs.newest("", None, 9) == []


async def test_one_client_is_attached_at_a_time(player):
    listener = Listener()
    record = player.launch(do("wait"), listener=listener)
    await listener.message("waiting")
    assert player.registry.attach(record, listener) == []
    with pytest.raises(ProcessError, match="Cannot attach: already attached"):
        player.registry.attach(record, Listener())


async def test_what_a_vanished_client_was_not_sent_is_replayed(player):
    listener = Listener()
    record = player.launch(do("wait"), listener=listener)
    await listener.message("waiting")
    player.registry.detach(record, listener, unsent=[(listener.events[-1], b"")])
    assert texts(event for event, _ in player.registry.attach(record, Listener())) == ["waiting"]


async def test_a_terminated_process_says_signal(player):
    listener = Listener()
    record = player.launch(do("wait"), listener=listener)
    await listener.message("waiting")
    player.registry.terminate(record)
    await listener.until(is_over)
    assert untimed(listener.events[-1]) == ProcessFailed(record.id, "ProcessCancelledError", "Signal")
    assert record.state == "killed"
    with pytest.raises(ProcessError, match="Process not found"):
        player.registry.terminate(record)


async def test_a_process_terminated_before_it_runs_says_signal(player):
    record = player.launch(do("wait"))
    player.registry.terminate(record)
    await record.ended.wait()
    assert record.terminal.message == "Signal"


async def test_processes_beyond_the_limit_are_queued(make_player):
    player = make_player(concurrent=1)
    first, second = player.launch(do("wait")), player.launch(do("print"))
    assert [first.state, second.state] == ["running", "queued"]
    assert row_of(second, None).reason.startswith("queued")
    player.registry.terminate(first)
    await second.ended.wait()
    assert second.state == "returned"


async def test_a_queued_process_can_be_terminated(make_player):
    player = make_player(concurrent=1)
    first, second = player.launch(do("wait")), player.launch(do("print"))
    player.registry.terminate(second)
    assert second.terminal.message == "Signal"
    player.registry.terminate(first)
    await first.ended.wait()


async def test_a_program_that_fails_says_how(player):
    record = player.launch(do("fail"))
    await record.ended.wait()
    assert untimed(record.terminal) == ProcessFailed(record.id, "ValueError", "no")
    assert record.state == "failed"
    assert (await listed(player, record)).reason == "ValueError: no"


async def test_all_of_a_batch_are_admitted_or_none(player):
    with pytest.raises(LaunchError, match="NaN is not allowed"):
        player.registry.admit(ADA, [Launch(player.program, "{}"), Launch(player.program, '{"x": NaN}')])
    assert player.registry.records(ADMIN, all=True) == []


async def test_a_user_has_a_limited_number_of_processes(make_player):
    player = make_player(per_user=2)
    with pytest.raises(AdmissionError, match="the limit is 2"):
        player.registry.admit(ADA, [Launch(player.program, "{}")] * 3)


async def test_a_budget_below_one_is_refused(player):
    with pytest.raises(InvalidArgumentError, match="must be at least 1"):
        player.launch(do("print"), token_budget=0)


async def test_processes_are_found_by_their_owner_and_an_admin(player):
    record = player.launch(do("wait"))
    assert player.registry.find(record.id.upper(), ADA) is record
    assert player.registry.find(record.id, ADMIN) is record
    with pytest.raises(ProcessError, match="Permission denied"):
        player.registry.find(record.id, BOB)
    with pytest.raises(ProcessError, match="Process not found"):
        player.registry.find(str(uuid.uuid4()), ADA)
    with pytest.raises(InvalidArgumentError, match="Invalid process_id"):
        player.registry.find("nonsense", ADA)
    assert player.registry.records(BOB) == []


async def test_a_finished_process_is_forgotten_after_its_grace(make_player):
    player = make_player(finished_grace_seconds=0.0)
    record = player.launch(do("print"))
    await record.ended.wait()
    while player.registry.records(ADA, all=True):  # noqa: ASYNC110 - nothing says when it is forgotten
        await asyncio.sleep(0)


async def test_messages_nobody_receives_are_refused_beyond_a_limit(make_player):
    player = make_player(messages=2)
    record = player.launch(do("wait"))
    assert [player.registry.send(record, "a") for _ in range(3)] == [True, True, False]


async def test_files_nobody_receives_are_refused_beyond_a_limit(make_player):
    player = make_player(files=1)
    record = player.launch(do("wait"))
    player.registry.send_file(record, b"1")
    with pytest.raises(ProcessError, match="1 files with 1 bytes wait"):
        player.registry.send_file(record, b"2")


async def test_a_listing_knows_pages_bids_and_balances(player, make_player):
    listener = Listener()
    record = player.launch(do("hold"), listener=listener)
    await listener.message("holding")
    engine = player.engine
    assert await engine.consult(lambda services: set_bid(services, record.id, 0.5)) == 1
    found = await listed(player, record)
    assert (found.state, found.pages, found.bid, found.attached) == ("running", 3, 0.5, True)
    assert found.balance > 0
    await engine.consult(lambda services: suspend(services, record.id))
    found = await listed(player, record)
    assert (found.state, found.pages) == ("suspended", 0)


@pytest.mark.parametrize(
    ("do_what", "reason"),
    [
        ("echo", "waits for its client: a message"),
        ("file", "waits for its client: a file"),
        ("pull", "waits for a message of 'jobs'"),
        ("hold", "waits for its client: a message"),
    ],
)
async def test_a_listing_says_for_whom_a_program_waits(player, do_what, reason):
    record = player.launch(do(do_what))
    async with asyncio.timeout(10):
        while (found := await listed(player, record)).reason != reason:
            pass
    assert found.state == "running"


async def test_a_program_that_asks_for_nothing_has_no_reason(player):
    listener = Listener()
    record = player.launch(do("wait"), listener=listener)
    await listener.message("waiting")
    assert (await listed(player, record)).reason == ""


async def test_everything_ends_when_the_registry_stops(make_player):
    player = make_player(concurrent=1)
    records = [player.launch(do("wait")) for _ in range(3)]
    await player.registry.stop()
    assert {record.terminal.message for record in records} == {"Engine stopped"}


async def test_nothing_starts_once_the_registry_has_stopped(player):
    await player.registry.stop()
    late = player.launch(do("print"))
    await asyncio.sleep(0)
    assert late.state == "queued"


async def test_a_session_closed_before_the_program_runs_takes_nothing_and_is_closed_for_it_too(make_player):  # I3
    player = make_player(concurrent=1)
    first, second = player.launch(do("wait")), player.launch(do("echo"))
    player.registry.close_session(second)
    assert not player.registry.send(second, "late")
    with pytest.raises(ProcessError, match="file refused"):
        player.registry.send_file(second, b"late")
    player.registry.terminate(first)
    async with asyncio.timeout(10):
        await second.ended.wait()
    assert second.terminal.error_type == "SessionClosedError"


async def test_a_program_that_waits_for_an_absent_client_too_long_is_ended(make_player):
    player = make_player(detached_seconds=10.0)
    waiting, busy = player.launch(do("echo")), player.launch(do("wait"))
    while not waiting.is_abandoned:  # noqa: ASYNC110 - programs do not say when they begin to wait
        await asyncio.sleep(0)
    for now_seconds in (1.0, 10.0):
        player.registry.end_abandoned(now_seconds)
    assert not waiting.cancelled
    player.registry.end_abandoned(11.0)
    await waiting.ended.wait()
    assert waiting.terminal.message == "detached for 10 s while it waited for its client"
    assert not busy.cancelled


async def test_a_client_that_came_back_may_be_away_as_long_again(make_player):
    player, listener = make_player(detached_seconds=10.0), Listener()
    record = player.launch(do("echo"))
    while not record.is_abandoned:  # noqa: ASYNC110 - programs do not say when they begin to wait
        await asyncio.sleep(0)
    player.registry.end_abandoned(1.0)
    player.registry.attach(record, listener)
    player.registry.end_abandoned(9.0)
    player.registry.detach(record, listener)
    for now_seconds in (10.0, 19.0):
        player.registry.end_abandoned(now_seconds)
    assert not record.cancelled
    player.registry.end_abandoned(20.0)
    assert record.cancelled


async def test_what_a_program_launches_is_on_record_too(make_player, tmp_path):
    player = make_player()
    source = (
        "from inferlet import runtime\nasync def main(input):\n    return await runtime.launch('child.py').result()\n"
    )
    (tmp_path / "main.py").write_text(source)
    (tmp_path / "child.py").write_text("async def main(input):\n    print('child')\n    return 5\n")
    record = player.launch("{}", program=find_program(tmp_path))
    await record.ended.wait()
    (child,) = [found for found in player.registry.records(ADA, all=True) if found.parent == record.id]
    await child.ended.wait()
    assert (record.terminal.value, child.terminal.value) == ("5", "5")
    assert texts(event for event, _ in player.registry.attach(child, Listener())) == ["child\n"]


async def test_a_program_reaches_the_mcp_servers_of_its_client(player, tmp_path):
    source = (
        "from inferlet import mcp\n"
        "async def main(input):\n"
        "    return mcp.connect(mcp.available_servers()[0]).call_tool('a', {'b': 1})\n"
    )
    (tmp_path / "main.py").write_text(source)
    record = player.launch("{}", program=find_program(tmp_path / "main.py"), listener=Listener())
    await record.ended.wait()
    assert json.loads(record.terminal.value)[1:3] == ["files", "tools/call"]


async def test_the_inputs_of_a_user_are_kept_within_bounds(make_player):
    player = make_player(input_characters=20)
    player.launch(do("print"))
    with pytest.raises(AdmissionError, match=r"inputs of \d+ characters"):
        player.launch(do("print"), user=ADA)
    player.launch(do("print"), user=BOB)
    player.registry.check_integrity()


async def test_messages_that_wait_are_bounded_by_their_length_too(make_player):
    player = make_player(message_characters=10)
    record = player.launch(do("wait"))
    assert [player.registry.send(record, text) for text in ("12345", "123456", "1234")] == [True, False, True]


async def test_files_that_wait_for_all_programs_of_a_user_are_bounded(make_player):
    player = make_player(user_file_bytes=10)
    first, second, other = (player.launch(do("wait"), user=user) for user in (ADA, ADA, BOB))
    player.registry.send_file(first, b"1234567")
    player.registry.send_file(other, b"1234567")
    with pytest.raises(ProcessError, match="7 bytes of files wait for the user's programs"):
        player.registry.send_file(second, b"1234")
