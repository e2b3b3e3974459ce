"""Verbs that talk to a running engine, in this process, to a server on a thread."""

import contextlib
import json
import shutil
import urllib.request

import pytest

from tests.cli.schemas import parsed
from tests.server.conftest import server
from tests.server.programs import PLAYER

__all__ = ["server"]

pytestmark = pytest.mark.timeout(60)

KEYS = {
    "process", "user", "id", "username", "program", "input", "elapsed_secs", "state", "reason", "attached", "kind",
    "parent", "model",
    "started_at", "started_at_secs", "pages", "own_pages", "balance", "spent", "bid", "prompt_tokens", "cached_tokens",
    "miss",
}  # fmt: skip


@pytest.fixture
def home(server, monkeypatch):
    """The home of the engine that runs."""
    monkeypatch.setenv("PIE_HOME", str(server.home))
    return server.home


@pytest.fixture
def start(server):
    """Starts the player as the user of this test, and answers its id."""
    from pie_mlx.client import connect

    started = []

    async def launch(input):
        async with await connect(server.url, unix_socket=server.server.socket_path) as client:
            process = await client.launch("player", input, attach=False)
            if input["do"] != "wait":
                while (await client.query("process_result", process_id=process.id))["state"] == "running":
                    pass
            return process.id

    def start(do, **more):
        started.append(server.call(launch({"do": do, **more})))
        return started[-1]

    return start


@pytest.fixture
def player(tmp_path):
    path = tmp_path / "here.py"
    path.write_text(PLAYER)
    return path


def test_ps_lists_processes_with_the_keys_of_the_wire(pie, start):
    process = start("wait")
    ended = pie("ps", "--json")
    (row,) = [row for row in parsed("ps", ended.out) if row["id"] == process]
    assert set(row) == KEYS  # 4.1
    assert process[:8] in pie("ps").out
    assert process in pie("ps", "-q").out.split()
    assert process not in pie("ps", "-q", "--user", "nobody").out
    assert pie("kill", process[:6]).code == 0
    assert process not in pie("ps", "-q").out
    assert process in pie("ps", "-q", "--all").out


def test_ps_tells_why_the_prompts_of_an_ended_process_were_not_cached(pie, start):
    process = start("generate")
    ended = pie("ps", "--all", "--json")
    (row,) = [row for row in parsed("ps", ended.out) if row["id"] == process]
    assert (row["state"], row["prompt_tokens"]) == ("returned", 20)
    assert row["miss"] in pie("ps", "--all").out
    assert row["miss"].startswith("token ")


def test_logs_show_what_was_given_out(pie, start):
    process = start("talk")
    ended = pie("logs", process)
    assert (ended.code, ended.out, ended.err) == (0, 'out\n{"a":1}\n{"done": true}\n', "err\n")
    assert pie("logs", process, "--stdout").out == "out\n"
    lines = [json.loads(line) for line in pie("logs", process, "--json", "-n", "1").out.splitlines()]
    assert [(line["event"], line["value"]) for line in lines] == [("return", '{"done": true}')]
    assert pie("logs", process, "-f").code == 0


def test_logs_are_listed_and_found_by_a_few_characters(pie, start):
    process = start("talk")
    assert process[:8] in pie("logs").out
    assert process in pie("logs", "-q").out.split()
    (row,) = [row for row in parsed("logs", pie("logs", "--json").out) if row["process"] == process]
    assert row["program"] == "player@0.1.0"
    assert pie("logs", process[:8], "--stdout").out == "out\n"
    assert pie("logs", "zzzz").err == "pie: process zzzz: there is none\n     try: 'pie logs' lists them\n"
    assert pie("logs", "-f").code == 2


def test_logs_outlive_the_engine(pie, start, home, tmp_path, monkeypatch):
    process = start("talk")
    asked = ((), ("--json",), (process,), (process[:8], "--stdout"), (process, "-f"))
    told = [pie("logs", *words) for words in asked]
    shutil.copytree(home / "logs", tmp_path / "logs")
    monkeypatch.setenv("PIE_HOME", str(tmp_path))
    assert pie("ps").err.startswith("pie: no engine is running")
    assert [pie("logs", *words) for words in asked] == told
    assert pie("logs", "zzzz").err == "pie: process zzzz: there is none\n     try: 'pie logs' lists them\n"


def test_without_an_engine_and_logs_there_is_nothing_to_ask(pie, tmp_path, monkeypatch):
    monkeypatch.setenv("PIE_HOME", str(tmp_path))
    assert pie("logs").err == (
        "pie: no engine is running, and nothing is recorded\n"
        "     try: programs on 'pie serve' are recorded; others leave no log\n"
    )


def test_the_name_of_a_program_leads_to_its_newest_process(pie, start):
    process = start("value", value="1")
    program = next(log["program"] for log in parsed("logs", pie("logs", "--json").out) if log["process"] == process)
    ended = pie("logs", program.partition("@")[0])
    assert (ended.code, f"'pie logs {process[:8]}' shows the newest" in ended.err) == (1, True)


def test_logs_cannot_speak_to_the_terminal(pie, start):
    process = start("value", value="\x1b[2Jevil\r")
    assert pie("logs", process).out == "[2Jevil\n"  # 8.5


def test_ids_may_be_cut_but_not_too_short(pie, start):
    process = start("wait")
    assert pie("kill", "zzzz").err.startswith("pie: process zzzz: there is none")
    assert pie("kill", process[:3]).code == 2
    assert pie("kill", process).out == f"{process}\n"
    again = pie("kill", process)
    assert (again.code, again.err.startswith("pie: Process not found")) == (1, True)


def test_kill_needs_words_or_all(pie, start):
    assert pie("kill").code == 2
    process = start("wait")
    assert pie("kill", "--all").code == 2
    assert process in pie("kill", "--all", "-y").out


def test_a_process_that_was_killed_says_who_ended_it(pie, start):
    process = start("wait")
    pie("kill", process)
    ended = "ProcessCancelledError: it was ended by 'pie kill' or another client"
    assert pie("attach", process).err == f"pie: process {process}: {ended}\n"
    assert pie("logs", process).err == f"pie: {ended}\n"
    assert json.loads(pie("logs", process, "--json", "-n", "1").out)["value"] == "Signal"


@pytest.mark.parametrize("cut", [8, None])
def test_logs_of_a_request_say_that_requests_are_not_recorded(pie, server, cut):
    with request_under_way(server):
        process = next(row["id"] for row in json.loads(pie("ps", "--json").out) if row["program"] == "openai@1.0.0")
        ended = pie("logs", process[:cut])
        pie("kill", process)
    assert (ended.code, ended.out) == (1, "")
    said = f"pie: process {process}: it answers a request to /v1, and these are not logged\n"
    assert ended.err.startswith(said)
    assert "requests to /v1 are not" in pie("logs", process).err  # it is gone


@contextlib.contextmanager
def request_under_way(server):
    body = {"model": "dummy", "prompt": "a", "max_tokens": 3000, "temperature": 1, "stream": True}
    request = urllib.request.Request(f"{server.http}/v1/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=30) as response:
        response.readline()
        yield


def test_a_no_ends_no_process(pie, start, answer):
    process = start("wait")
    answer("n\n")
    ended = pie("kill", "--all")
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.endswith("pie: no process was ended: the answer was no\n")
    assert process in pie("ps", "-q").out


def test_a_signal_reaches_the_program(pie, server, start):
    process = server.call(_launch(server, {"do": "echo"}))
    assert pie("signal", process[:8], "hello").code == 0
    assert pie("logs", process, "-f").out == "hello\n"
    assert pie("signal", "00000000-0000-4000-8000-000000000000", "x").code == 1


def test_a_signal_to_a_process_that_has_ended_fails(pie, start):
    ended = pie("signal", start("talk"), "hello")
    assert (ended.code, ended.out, ended.err) == (1, "", "pie: Process not found\n     try: it has ended already\n")


def test_attach_shows_what_was_missed_and_answers_how_it_ended(pie, start):
    process = start("talk")
    ended = pie("attach", process)
    assert (ended.code, ended.out) == (0, '{"a":1}\n{"done": true}\n')
    assert pie("attach", start("fail")).code == 1


def test_run_uses_the_engine_that_runs(pie, player):
    ended = pie("run", player, "--", "--do", "talk")
    assert (ended.code, ended.out, ended.err) == (0, 'out\n{"a":1}\n{"done": true}\n', "err\n")
    assert "here@0.0.0" in pie("ps", "--all").out


def test_run_by_name(pie):
    assert pie("run", "player", "--", "--do", "value", "--value", "7").out == "7\n"
    assert pie("run", "player@0.1.0", "-q", "--", "--do", "talk").out == '{"done": true}\n'
    ended = pie("run", "nobody")
    assert (ended.code, "program 'nobody' is not installed" in ended.err) == (1, True)


def test_a_program_that_answers_requests_is_not_run(pie):
    ended = pie("run", "openai@1.0.0")
    assert (ended.code, ended.out) == (1, "")
    assert "program 'openai@1.0.0': it answers HTTP requests" in ended.err
    assert "launch_daemon" in ended.err


def test_run_as_json(pie, player):
    lines = [json.loads(line) for line in pie("run", player, "--json", "--", "--do", "talk").out.splitlines()]
    assert [line["event"] for line in lines][-1] == "return"
    assert {line["event"] for line in lines} == {"stdout", "stderr", "message", "return"}


def test_run_says_how_it_failed(pie, player):
    ended = pie("run", player, "--", "--do", "fail")
    assert (ended.code, "ValueError: no" in ended.err) == (1, True)


def test_run_ends_after_its_time(pie, player):
    ended = pie("run", player, "--timeout", "0.2", "--", "--do", "wait")
    assert (ended.code, "still running after 0.2 s" in ended.err) == (1, True)


def test_run_saves_files(pie, player, tmp_path):
    assert pie("run", player, "--files", tmp_path / "got", "--", "--do", "files", "--n", "2", "--size", "3").code == 0
    assert (tmp_path / "got" / "1.bin").read_bytes() == b"\1\1\1"


def test_an_address_that_nobody_listens_on(pie):
    ended = pie("ps", "--url", "ws://127.0.0.1:1")
    assert (ended.code, ended.err.startswith("pie: no engine answers at ws://127.0.0.1:1")) == (1, True)


def test_an_address_goes_before_the_engine_that_runs(pie, server):
    assert pie("ps", "--url", server.url).code == 0
    assert pie("run", "player", "--url", server.url, "--dummy").code == 2


def test_no_engine(pie, tmp_path, monkeypatch):
    monkeypatch.setenv("PIE_HOME", str(tmp_path))
    ended = pie("ps", "--json")
    assert ended.code == 1
    assert json.loads(ended.err)["error"]["hint"] == "start one with 'pie serve -d'"


async def _launch(server, input):
    from pie_mlx.client import connect

    async with await connect(server.url, unix_socket=server.server.socket_path) as client:
        return (await client.launch("player", input, attach=False)).id
