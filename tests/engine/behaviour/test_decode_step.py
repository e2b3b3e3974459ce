"""How much code one decode step passes through: an engineer has to read it, and the device waits for it."""

import asyncio
import functools
import gc
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from inferlet import Context, Generator, Sampler
from pie_mlx.backends import current_backend
from pie_mlx.backends.cpu import CpuBackend
from pie_mlx.engine.handlers.forward import continuation
from pie_mlx.engine.scheduler import reports
from pie_mlx.engine.services import Services
from tests.docs.pages import ROOT
from tests.engine.running import Running, finished, in_context, running
from tests.tracing import PACKAGE, in_packages, missing, named, section

pytestmark = pytest.mark.skipif(
    not isinstance(current_backend(), CpuBackend), reason="counted on a CPU: a GPU's step passes through other files"
)

COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>"}
STEPS, STEPS_BEFORE = 16, 4
MOST_FILES, MOST_CALLS = 61, 585
"""What a step passes through now, of the SDK and the engine, whatever the device: without the room of the CPU, and
without comprehensions, which are no calls from Python 3.12 on. Lower them with the step; a file
more needs a reason, as the sharing of the device between users and between models had, and planning passes and
ticks apart from computing them."""

CARRIERS = {
    "Forward": "the program's call: the tokens, and what to read of them",
    "LogitsRequest": "what to read of one token, with its mask and its random number",
    "ForwardTask": "the tokens from the request to the reply",
    "Chunk": "how many of them are left, and how many run in this tick",
    "BatchEntry": "those that run, with their slots",
    "Segment": "their rows in the arrays of the step",
    "SampledTokens": "what was drawn",
    "ForwardReply": "the engine's answer",
    "Output": "the program's view of it",
}
"""The types by which a row itself, what is computed and what comes of it, goes on from room to room, in this order. To
follow one token one has to know all of them; one that only renames another is one too many."""
MOST_CARRIERS = 9
BESIDE = {
    "parts of carriers": {
        "Completion", "Continuation", "PageCounters", "PassContinuation", "Prospect", "Slot", "WorkingToken",
    },
    "what a pass will compute, for the steps of its handler": {"PassPlan"},
    "what the SDK keeps for the program": {"Cut", "GenStep", "InflightPass", "PassSlots", "SampleHandle"},
    "what is noted of pages": {"Mark", "Prefetched", "PrefixMatch", "Rows"},
    "of money": {"Horizon", "Reservation"},
    "of patience and threads": {"Timer", "_BridgedCall"},
    "of what happened": {"PassCompleted"},
}  # fmt: skip
"""All else that is made for each row of each step. No row goes on by any of it."""
ROWS, ROW_STEPS = 3, 4


Profile = Callable[[FrameType, str, Any], None]


@functools.cache
def ours(path: str) -> str | None:
    """A file of the packages as the map writes it; None for others and those of the room of the CPU."""
    file = in_packages(Path(path))
    return None if file is None or file.parts[:2] == ("backends", "cpu") else file.as_posix()


class Trace:
    """Every call into the packages, by file."""

    def __init__(self) -> None:
        self.files: list[str] = []

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        file = ours(frame.f_code.co_filename) if event == "call" else None
        if file is not None and frame.f_code.co_name not in COMPREHENSIONS:
            self.files.append(file)


class NewObjects:
    """How many objects of each of our types every step makes: of all that a function of ours gets, has and answers,
    those that none had before. All are kept, so that none gets the address of another."""

    def __init__(self) -> None:
        self.steps: list[Counter[type]] = [Counter()]  # the first has what was there before
        self._known: dict[int, object] = {}

    def next_step(self) -> None:
        self.steps.append(Counter())

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if event in ("call", "return") and ours(frame.f_code.co_filename):
            self._look([*frame.f_locals.values(), argument], depth=2)

    def _look(self, values: Iterable[object], depth: int) -> None:
        for value in values:
            if type(value).__module__.startswith(("pie_mlx.", "inferlet.")):
                if id(value) not in self._known:
                    self._known[id(value)] = value
                    self.steps[-1][type(value)] += 1
            elif depth and isinstance(value, list | tuple | dict):
                self._look(list(value.values() if isinstance(value, dict) else value), depth - 1)

    def fewest(self, kind: type) -> int:
        """In any step."""
        return min(step[kind] for step in self.steps[1:])


async def profile(engine: Running, callback: Profile | None) -> None:
    """On the threads of the program, of the engine and of the device."""

    def attach(services: Services) -> None:
        sys.setprofile(callback)
        services.runner.call(lambda: sys.setprofile(callback))

    sys.setprofile(None)  # to attach it is no part of a step
    await engine.core.consult(attach)
    sys.setprofile(callback)


async def follow(
    engine: Running, callback: Profile, steps: int, rows: int = 1, begin: Callable[[], None] = lambda: None
) -> None:
    """`steps` of as many `rows`, a context each, after some that are not followed; `begin` comes before each step."""
    with ExitStack() as stack:
        contexts = [stack.enter_context(Context(engine.model)) for _ in range(rows)]
        for context in contexts:
            context.append(engine.prompt(9))
        sampler, most = Sampler.argmax(), STEPS_BEFORE + steps
        generators = [one.generate(sampler, max_tokens=most + 1, stop=[], auto_flush=False) for one in contexts]
        for step in range(most):
            if step == STEPS_BEFORE:
                await profile(engine, callback)
            if step >= STEPS_BEFORE:
                begin()
            await asyncio.gather(*[execute(generator) for generator in generators])
        await profile(engine, None)


async def execute(generator: Generator) -> None:
    await (await anext(generator)).execute()


@pytest.fixture(scope="module")
def engine() -> Iterator[Running]:
    """One step at a time, and no count of pages: those come by the clock, the more the longer a step takes."""
    with pytest.MonkeyPatch.context() as patch, running() as found:
        patch.setattr(continuation, "LONGEST_SECONDS", 0.0)
        patch.setattr(reports, "COUNT_SECONDS", 3600.0)
        yield found


@pytest.fixture(scope="module")
def trace(engine: Running) -> Trace:
    """Some steps of an engine that served nothing before: its pages lie side by side."""
    gc.collect()  # what other tests left would be released, and counted, in between
    found = Trace()
    finished(in_context(engine, follow(engine, found, STEPS)))
    return found


@pytest.fixture(scope="module")
def row_types(trace: Trace, engine: Running) -> set[str]:
    """The types of which a step makes one more for each row: of three rows at once, three times as many as of one."""
    del trace  # before the pages are used
    alone, together = NewObjects(), NewObjects()
    for rows, found in ((1, alone), (ROWS, together)):
        finished(in_context(engine, follow(engine, found, ROW_STEPS, rows, found.next_step)))
    every = alone.steps[-1]
    return {kind.__name__ for kind in every if 0 < ROWS * alone.fewest(kind) <= together.fewest(kind)}


def test_a_decode_step_passes_through_no_more_files_and_calls(trace: Trace) -> None:
    assert len(trace.files) / STEPS <= MOST_CALLS
    assert len(set(trace.files)) <= MOST_FILES, sorted(set(trace.files))


def test_a_row_goes_on_by_few_types(row_types: set[str]) -> None:
    assert row_types == {*CARRIERS, *(name for names in BESIDE.values() for name in names)}
    assert len(CARRIERS) <= MOST_CARRIERS


def test_the_map_names_every_file_of_a_step(trace: Trace) -> None:
    files = list(named(section("One decode step")))
    assert missing(trace.files, "One decode step") == []
    assert [file for file in files if not ((PACKAGE / file).is_file() or (ROOT / file).is_file())] == []
