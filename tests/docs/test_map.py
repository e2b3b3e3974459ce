"""The map names every file of a start, launch, request and suspension; `test_decode_step.py` has those of a step."""

import asyncio
import json
import urllib.request
from pathlib import Path

import pytest

from inferlet import Context
from pie_mlx import Engine
from pie_mlx.backends import current_backend
from pie_mlx.backends.cpu import CpuBackend
from pie_mlx.engine.paging.spill import SpillCosts
from pie_mlx.events import ContextRestored, ContextSuspended
from tests.docs.pages import ROOT
from tests.engine.running import Running, finished, in_context, running
from tests.server.http.openai.conftest import TinyServer
from tests.tracing import PACKAGE, FileTrace, missing, named, section, steps

SECTIONS = [
    *("One start", "One launch", "The worker process", "One request", "One decode step", "Steps that begin early"),
    "One suspension and restore",
]
IN_THE_WORKER = {
    *(f"runtime/worker/forked/{name}.py" for name in ("zygote", "child", "host")),
    *("runtime/program/modules.py", "runtime/execution/program_run.py"),
}
PROGRAM = "async def main(input):\n    print('hello')\n    return input\n"

on_a_cpu = pytest.mark.skipif(
    not isinstance(current_backend(), CpuBackend), reason="traced on a CPU: a GPU's steps pass through other files"
)


async def launches(trace: FileTrace, program: Path) -> None:
    """The same twice: the first imports, and is not recorded."""
    async with Engine(dummy=True, total_pages=64, seed=1, isolation="process", on_event=lambda event: None) as engine:
        for trace.recording in (False, True):
            await engine.run(program, {"n": 1}, capture_output=True)
        trace.recording = False


def requests(trace: FileTrace, home: Path) -> None:
    server = TinyServer(home).start()
    try:
        for trace.recording in (False, True):
            messages = [{"role": "user", "content": f"Hello {trace.recording}"}]
            body = json.dumps({"model": "pie-tiny", "messages": messages, "max_tokens": 2}).encode()
            request = urllib.request.Request(f"{server.http}/v1/chat/completions", body)
            request.add_header("content-type", "application/json")
            with urllib.request.urlopen(request) as answer:
                answer.read()
            server.seen()
        trace.recording = False
    finally:
        server.stop()


async def starts(trace: FileTrace) -> None:
    for trace.recording in (False, True):
        async with Engine("pie-tiny", total_pages=64, on_event=lambda event: None) as engine:
            for _ in range(4):  # turns of the engine's loop, in which the first tick finds nothing to do
                await engine.consult(lambda services: None)
            trace.recording = False


async def contends(trace: FileTrace, engine: Running, *, recorded: bool) -> None:
    """A context loses its pages to one that bids more, and goes on when it can pay for them."""
    with Context(engine.model) as holder, Context(engine.model) as newcomer:
        holder.append(engine.prompt(40, 1))
        newcomer.append(engine.prompt(160, 2))
        await engine.greedy(holder, 12)
        trace.recording = recorded
        await engine.greedy(newcomer, 4)
        newcomer.release()
        await engine.greedy(holder, 4)
        trace.recording = False


@on_a_cpu
def test_the_map_names_every_file_of_a_start() -> None:
    trace = FileTrace()
    with trace.attached():
        asyncio.run(starts(trace))
    assert missing(trace.files, "One start") == []
    assert set(named(steps("One start"))) - set(trace.files) == set()


@on_a_cpu
def test_the_map_names_every_file_of_a_suspension_and_restore(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pie_mlx.engine.paging.spill.spill.measure_costs", lambda disk: SpillCosts(1e15, 1e15))
    trace = FileTrace()
    with trace.attached(), running(total_pages=12, spill_directory=str(tmp_path)) as engine:
        for recorded in (False, True):
            finished(in_context(engine, contends(trace, engine, recorded=recorded)))
    kinds = [event.reason for event in engine.events if isinstance(event, ContextSuspended)]
    pages = [event.read_pages for event in engine.events if isinstance(event, ContextRestored)]
    assert (kinds, [count > 0 for count in pages]) == (["outbid"] * 2, [True] * 2)
    known = ("One suspension and restore", "One decode step", "Steps that begin early", "One request")
    assert missing(trace.files, *known) == []
    assert set(named(steps("One suspension and restore"))) - set(trace.files) == set()


@on_a_cpu
def test_the_map_names_every_file_of_a_launch(tmp_path: Path) -> None:
    trace, program = FileTrace(), tmp_path / "program.py"
    program.write_text(PROGRAM)
    with trace.attached():
        asyncio.run(launches(trace, program))
    assert missing(trace.files, "One launch", "The worker process") == []  # watchers run when it is their time
    assert set(named(steps("One launch"))) - set(trace.files) == IN_THE_WORKER


@on_a_cpu
def test_the_map_names_every_file_of_a_request(tmp_path: Path) -> None:
    trace = FileTrace()
    with trace.attached():
        requests(trace, tmp_path)
    assert missing(trace.files, "One request", "One decode step", "Steps that begin early") == []
    assert set(named(steps("One request"))) - set(trace.files) == set()


def test_every_file_that_a_change_needs_is_there() -> None:
    table = (ROOT / "docs" / "rooms.md").read_text(encoding="utf-8").partition("## Where do I change it?")[2]
    files = list(named(table.partition("\n## ")[0]))
    assert len(files) > 40
    assert [file for file in files if not any((root / file).is_file() for root in (PACKAGE, ROOT))] == []


@pytest.mark.parametrize("heading", SECTIONS)
def test_every_file_that_the_map_names_is_there(heading: str) -> None:
    files = list(named(section(heading)))
    assert [file for file in files if not any((root / file).is_file() for root in (PACKAGE, ROOT))] == []
