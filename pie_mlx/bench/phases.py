"""Where the time of a decode step goes."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

import mlx.core as mx

from pie_mlx.bench import programs
from pie_mlx.bench.prompts import ragged
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.runner import pipeline
from pie_mlx.engine.model.runner.batch import Outcome
from pie_mlx.engine.model.runner.sampling import Sampling
from pie_mlx.engine.model.step import StepInput
from pie_mlx.engine.scheduler.scheduler import Scheduler
from pie_mlx.engine.scheduler.tick_planner import TickPlanner
from pie_mlx.metal import UnevaluatedError
from pie_mlx.metal.arrays import evaluate
from pie_mlx.runtime.engine import Engine

PLAN, BATCH, GRAPH = "plan", "batch build", "graph"
EVALUATION, SAMPLING, COMMIT = "evaluation", "sampling", "commit"
REPLIES = "replies and programs"
PHASES = (PLAN, BATCH, GRAPH, EVALUATION, SAMPLING, COMMIT, REPLIES)


@dataclass(frozen=True, slots=True)
class Profile:
    """Milliseconds per step of each phase, in order, while that many streams decode."""

    streams: int
    steps: int
    milliseconds: dict[str, float]


class PhaseClock:
    """Adds up the time of phases. One phase runs at a time: engine and device thread take turns."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Start again from 0."""
        self.seconds: dict[str, float] = dict.fromkeys(PHASES, 0.0)
        self.steps = 0
        self._started = time.perf_counter()

    @contextmanager
    def phase(self, name: str) -> Generator[None]:
        """Count the time of the block."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] += time.perf_counter() - started

    def profile(self, streams: int) -> Profile:
        """The times since the start; uncounted time went to replies, programs and thread switches."""
        wall = time.perf_counter() - self._started
        seconds = {**self.seconds, REPLIES: wall - sum(self.seconds.values())}
        steps = max(self.steps, 1)
        return Profile(streams, self.steps, {name: 1000 * seconds[name] / steps for name in PHASES})


async def profile(engine: Engine, streams: Sequence[int], new_tokens: int) -> list[Profile]:
    """One profile for each number of streams. `engine` must not run ahead, or phases would overlap.

    To separate the phases, sampling waits for the model's evaluation, and no step is built while another is computed. A
    normal step overlaps these, so the measured steps are somewhat slower. Layers whose evaluation starts while later
    ones are still being built run beside the graph and compete with it for the cores of a CPU; their time counts as
    graph.
    """
    return [await _profile(engine, count, new_tokens) for count in streams]


async def _profile(engine: Engine, streams: int, new_tokens: int) -> Profile:
    found: list[Profile] = []

    async def main(input: dict[str, object]) -> None:
        del input
        with measured() as clock:
            await programs.decode_together(ragged(streams), new_tokens, clock.restart)
            found.append(clock.profile(streams))

    await engine.run(main, {})
    return found[0]


@contextmanager
def measured() -> Generator[PhaseClock]:
    """Time the phases of every engine of this process while the block runs."""
    clock = PhaseClock()
    with ExitStack() as stack:
        for owner, name, phase in _PARTS:
            stack.enter_context(_replaced(owner, name, _timed(getattr(owner, name), clock, phase)))
        stack.enter_context(_replaced(LoadedModel, "forward", _forward(LoadedModel.forward, clock)))
        stack.enter_context(_replaced(LoadedModel, "follow", _never))
        stack.enter_context(_replaced(Scheduler, "commit", _commit(Scheduler.commit, clock)))
        yield clock


_PARTS: Sequence[tuple[Any, str, str]] = (
    (TickPlanner, "plan", PLAN),
    (Scheduler, "chunks", BATCH),
    (Scheduler, "build", BATCH),
    (Scheduler, "enter", BATCH),
    (pipeline, "step_input", BATCH),
    (Sampling, "__init__", SAMPLING),
    (LoadedModel, "finish", SAMPLING),
    (LoadedModel, "begin", SAMPLING),
    (Sampling, "collect", SAMPLING),
)


def _never(model: LoadedModel, step: StepInput) -> NoReturn:
    del model, step
    raise UnevaluatedError


def _timed(function: Callable[..., Any], clock: PhaseClock, phase: str) -> Callable[..., Any]:
    def timed(*arguments: Any, **options: Any) -> Any:
        with clock.phase(phase):
            return function(*arguments, **options)

    return timed


def _forward(forward: Callable[..., mx.array], clock: PhaseClock) -> Callable[..., mx.array]:
    """The graph, then its evaluation."""

    def timed(*arguments: Any, **options: Any) -> mx.array:
        with clock.phase(GRAPH):
            logits = forward(*arguments, **options)
        with clock.phase(EVALUATION):
            evaluate(logits)
        return logits

    return timed


def _commit(commit: Callable[..., None], clock: PhaseClock) -> Callable[..., None]:
    timed = _timed(commit, clock, COMMIT)

    def counted(loop: Scheduler, chunks: Any, outcome: Outcome, **options: Any) -> None:
        timed(loop, chunks, outcome, **options)
        clock.steps += outcome.steps

    return counted


@contextmanager
def _replaced(owner: Any, name: str, by: Callable[..., Any]) -> Generator[None]:
    original = getattr(owner, name)
    setattr(owner, name, by)
    try:
        yield
    finally:
        setattr(owner, name, original)
