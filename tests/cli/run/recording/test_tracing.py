"""`pie run --trace`: the trace of a run is there however the run ends."""

import json
import signal

import pytest

from pie_mlx.cli.run.recording.tracing import TraceRecorder
from pie_mlx.events import CallAnswered, EngineStarted, ProcessLaunched, TokensComputed
from pie_mlx.trace.file import read_trace
from pie_mlx.trace.times import times_of
from tests.server.conftest import server

__all__ = ["server"]

pytestmark = pytest.mark.timeout(60)

PROGRAM = """
from inferlet import Context, Model, Sampler, runtime

async def main(input):
    with Context(Model.load(runtime.models()[0])) as context:
        context.append([40] * 20)
        await context.generate(Sampler.argmax(), max_tokens=3, auto_flush=False).collect_tokens()
    if input.get("fail"):
        raise ValueError("no")
    if input.get("wait"):
        import asyncio
        await asyncio.Event().wait()
    return "done"
"""


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "agent.py"
    file.write_text(PROGRAM)
    return file


def kinds(recorded):
    return {type(event) for event in recorded.events}


def test_a_run_leaves_a_trace_of_its_calls_and_tokens(pie, program, tmp_path):
    out = tmp_path / "out.json"
    assert pie("run", "-q", "--dummy", "--trace", out, program).out == "done\n"
    recorded = read_trace(out)
    assert {CallAnswered, TokensComputed, EngineStarted} <= kinds(recorded)
    assert [(one.program, one.outcome) for one in times_of(recorded.trace())] == [("agent@0.0.0", "returned")]
    assert json.loads(out.read_text())["traceEvents"]


def test_a_program_that_fails_leaves_one_too(pie, program, tmp_path):
    assert pie("run", "-q", "--dummy", "--trace", tmp_path / "out.json", program, "--", "--fail").code == 1
    (times,) = times_of(read_trace(tmp_path / "out.json").trace())
    assert times.outcome == "ValueError: no"


def test_a_run_that_is_interrupted_leaves_one_too(pie, program, tmp_path, monkeypatch):
    """Ctrl-C arrives while the program waits for ever."""
    observe, struck = TraceRecorder.observe, []

    def interrupted(self, event):
        observe(self, event)
        if isinstance(event, TokensComputed) and not struck:
            struck.append(event)
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(TraceRecorder, "observe", interrupted)
    assert pie("run", "-q", "--dummy", "--trace", tmp_path / "out.json", program, "--", "--wait").code == 130
    (times,) = times_of(read_trace(tmp_path / "out.json").trace())
    assert times.outcome.startswith("ProcessCancelledError")


def test_without_the_option_no_engine_makes_details(pie, program, tmp_path):
    assert pie("run", "-q", "--dummy", "--log", tmp_path / "log", program).code == 0
    assert kinds(read_trace(tmp_path / "log")).isdisjoint({CallAnswered, TokensComputed})


def test_a_place_that_cannot_be_written_is_refused_before_the_run(pie, program, tmp_path):
    ended = pie("run", "--dummy", "--trace", tmp_path / "none" / "out.json", program)
    message = f"pie: --trace {tmp_path / 'none' / 'out.json'}: no such directory"
    assert (ended.code, ended.err.splitlines()[0]) == (2, message)


def test_on_a_running_engine_it_is_of_this_run_alone(pie, program, tmp_path, server, monkeypatch):
    monkeypatch.setenv("PIE_HOME", str(server.home))
    assert pie("run", "-q", program).out == "done\n"
    assert pie("run", "-q", "--trace", tmp_path / "out.json", program).out == "done\n"
    recorded = read_trace(tmp_path / "out.json")
    assert len([event for event in recorded.events if isinstance(event, ProcessLaunched)]) == 1
    assert {CallAnswered, TokensComputed, EngineStarted} <= kinds(recorded)
    (times,) = times_of(recorded.trace())
    assert (times.outcome, times.cached_tokens) == ("returned", 16)
