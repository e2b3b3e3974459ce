"""`pie trace`: a table of where the time went, the same as JSON, and a page."""

import json

import pytest

from pie_mlx.events import (
    CallAnswered,
    ContextCreated,
    EngineStarted,
    PassCompleted,
    ProcessLaunched,
    ProcessReturned,
)
from pie_mlx.trace.file import Recorded, write_trace
from tests.server.conftest import server

__all__ = ["server"]

pytestmark = pytest.mark.timeout(60)

PARENT, CHILD = "aaaa1111-0000-0000-0000-000000000000", "bbbb2222-0000-0000-0000-000000000000"
EVENTS = [
    EngineStarted("m", "market", 64, 16),
    ProcessLaunched(PARENT, "ada", "agent@1.0.0", at_seconds=10.0),
    ProcessLaunched(CHILD, "ada", "helper@1.0.0", parent=PARENT, at_seconds=10.5),
    ContextCreated(PARENT, 1, at_seconds=10.0),
    PassCompleted(PARENT, 1, 4, 50, 1, requested_seconds=11.0, started_seconds=11.5, completed_seconds=14.0),
    CallAnswered(PARENT, "forward", 11.0, 14.0, context=1),
    ProcessReturned(CHILD, "", at_seconds=12.0),
    ProcessReturned(PARENT, "", at_seconds=20.0),
]
REPORT = """
agent@1.0.0 aaaa1111: 10.00 s, returned
1 pass, 50 prompt tokens computed, 4 cached, 0 decoded
where self share total count
own code 7.00 s 70% 7.00 s
prefill 2.50 s 25% 2.50 s 1
wait: next batch 500.0 ms 5% 500.0 ms 1
step 0.0 ms 0% 3.00 s 1
Processes
id program parent time passes computed most of it
aaaa1111 agent@1.0.0 10.00 s 1 50 own code
bbbb2222 helper@1.0.0 aaaa1111 1.50 s 0 0 own code and calls that were not recorded
"""


@pytest.fixture
def file(tmp_path):
    write_trace(tmp_path / "out.json", Recorded(EVENTS))
    return tmp_path / "out.json"


def words(text):
    lines = (" ".join(line.split()) for line in text.splitlines())
    return [line for line in lines if line.strip(" ─")]


def test_each_part_has_its_own_time_its_share_and_the_time_of_all_spans(pie, file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    assert words(pie("trace", file).out) == words(REPORT)


def test_json_has_every_process_and_part(pie, file):
    found = json.loads(pie("trace", file, "--json").out)
    assert [process["process"] for process in found["processes"]] == [PARENT, CHILD]
    assert found["processes"][0]["parts"][0] == {
        "part": "own code",
        "self_seconds": 7.0,
        "total_seconds": 7.0,
        "count": 2,
    }


def test_lost_events_are_told(pie, tmp_path):
    write_trace(tmp_path / "out.json", Recorded(EVENTS, missed=3))
    assert pie("trace", tmp_path / "out.json").err == "pie: 3 events are missing: their time counts as other parts\n"


def test_a_page_is_written_on_demand(pie, file, tmp_path):
    ended = pie("trace", file, "--html", tmp_path / "out.html")
    assert ended.out == f"{tmp_path / 'out.html'}\n"
    assert "agent@1.0.0" in (tmp_path / "out.html").read_text()


def test_a_file_that_is_not_there_and_one_without_programs_are_said_so(pie, tmp_path):
    assert pie("trace", "./none.json").err == (
        "pie: ./none.json: no such file\n     try: name a file of 'pie run --trace', or a process\n"
    )
    write_trace(tmp_path / "empty.json", Recorded([]))
    assert "it has no program in it" in pie("trace", tmp_path / "empty.json").err


def test_a_process_of_a_running_engine_is_traced_by_its_id(pie, tmp_path, server, monkeypatch):
    monkeypatch.setenv("PIE_HOME", str(server.home))
    (tmp_path / "agent.py").write_text("async def main(input):\n    return 1\n")
    pie("run", "-q", tmp_path / "agent.py")
    identity = next(row for row in json.loads(pie("ps", "--all", "--json").out) if "agent" in row["program"])["id"]
    (process,) = json.loads(pie("trace", identity[:8], "--json").out)["processes"]
    assert (process["process"], process["outcome"]) == (identity, "returned")
