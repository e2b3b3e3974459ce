"""A batch with the steps that follow it at once."""

import contextlib
import math
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Executor, wait
from dataclasses import replace

import mlx.core as mx

from pie_mlx.engine.model.ahead import Ahead
from pie_mlx.engine.model.batch import Following, Outcome, Work, WorkResult
from pie_mlx.engine.model.following import FollowingSteps
from pie_mlx.engine.model.loaded import LoadedModel, Tentative
from pie_mlx.engine.model.ragged import Reads, step_input
from pie_mlx.engine.model.reading import Reading
from pie_mlx.errors import PieError
from pie_mlx.metal import UnsettledError

LONGEST_SECONDS = 0.5
"""Time after which no further step follows a batch at once: whoever watches hears of batches, not of steps. Between two
batches of 32 streams 8 to 12 ms pass."""

FEWEST_WALKS = 4
"""Rows whose grammars are worth another thread."""


class Burst:
    """Steps of `works`, the later ones as `following` decides.

    While a step is computed, the next one is built on the tokens still being drawn, and its first layers are begun; the
    others are once no text has ended. On the thread of `beside` grammars are walked meanwhile, and steps built where
    that pays. With a `tail`, the step behind the last one is left in `ahead`.
    """

    def __init__(
        self, model: LoadedModel, beside: Executor, works: Sequence[Work], following: Following, *, tail: bool = False
    ) -> None:
        self._model, self._beside = model, beside
        self._builder = beside if model.builds_beside(len(works)) else None
        self._steps = FollowingSteps(works, following, tail=tail)
        self._next: Tentative | None = None
        self._ends_at = math.inf
        self.ahead: Ahead | None = None

    def run(self, first: Reading, begun: float, may_go_on: Callable[[], bool]) -> Outcome:
        """All that was drawn. Raises what the `first` step does; a later one that fails only ends the burst.

        `begun` is when building the first began. It will fail again when it is asked for by itself.
        """
        try:
            results = self._draw(first)
            followed = time.perf_counter()
            self._ends_at = followed + LONGEST_SECONDS
            with self._ended_by_errors():
                self._steps.add(results)
                while self._steps.goes_on and may_go_on() and time.perf_counter() < self._ends_at:
                    self._steps.add(self._step())
                self.ahead = self._tail() if may_go_on() else None
        finally:
            self._drop_next()
        if not self._steps.count:
            return Outcome(results, followed - begun)
        further = time.perf_counter() - followed
        tail = () if self.ahead is None else self.ahead.works
        return Outcome(
            self._steps.results(),
            followed - begun,
            followed=frozenset(work.context for work in tail),
            steps=self._steps.count,
            further_seconds=further,
            tail=tail,
        )

    @contextlib.contextmanager
    def _ended_by_errors(self) -> Generator[None]:
        """What a later step was to write must not fail the next batch, which has no part in it."""
        try:
            yield
        except PieError:
            pass
        except (RuntimeError, ValueError, MemoryError):
            self._model.recover()

    def _tail(self) -> Ahead | None:
        """The step that runs ahead, if it is built."""
        works, built = self._steps.tail(), self._next
        if not works or built is None:
            return None
        self._next = None
        return Ahead.of(works, built.keep(), self._model.hidden)

    def _draw(self, reading: Reading) -> list[WorkResult]:
        self._model.begin_and_build(reading.outputs, lambda: self._build_next(reading), self._builder)
        return self._collect(reading)

    def _step(self) -> list[WorkResult]:
        """The step behind the last one."""
        if self._builder is None and self._steps.rows < FEWEST_WALKS:
            reads = self._steps.reads()
            return self._draw(Reading(self._next_logits(), reads))
        logits = self._next_logits()
        try:
            reading = self._begin(logits)
        except Exception:
            self._drop_next()
            self._model.settle(logits)  # what a grammar forbids at the last moment lies beyond every context's length
            raise
        self._model.begin(*reading.outputs)
        return self._collect(reading)

    def _begin(self, logits: mx.array) -> Reading:
        if self._builder is not None:
            return self._model.begin_and_build([logits], lambda: self._read(logits, self._steps.reads()), self._builder)
        reads = self._beside.submit(self._steps.reads)
        try:
            self._model.begin(logits)
        finally:
            wait([reads])  # its grammars are the engine's again when this is over
        return self._read(logits, reads.result())

    def _read(self, logits: mx.array, reads: Reads) -> Reading:
        """What is drawn from `logits`; and the next step, behind it."""
        reading = Reading(logits, reads)
        self._build_next(reading)
        return reading

    def _collect(self, reading: Reading) -> list[WorkResult]:
        if self._next is not None and time.perf_counter() < self._ends_at:
            self._model.begin_early(self._next)
        results = reading.collect()
        if not all(map(reading.keeps_last, range(self._steps.rows))):
            self._drop_next()
            self._model.settle()  # its first layers may have begun
        return results

    def _build_next(self, reading: Reading) -> None:
        works = self._steps.works_behind()
        if not works or not self._model.follows or self._model.pool.ordered:
            return
        step, _ = step_input(works)
        # If it is the model that fails, it will do so again when the step is wanted.
        with contextlib.suppress(UnsettledError, PieError, RuntimeError, ValueError, MemoryError):
            self._next = self._model.follow(replace(step, tokens=reading.last_tokens(range(len(works)))))

    def _next_logits(self) -> mx.array:
        built, self._next = self._next, None
        logits = self._model.forward(step_input(self._steps.works())[0]) if built is None else built.keep()
        return logits.astype(mx.float32)

    def _drop_next(self) -> None:
        if self._next is not None:
            self._next.drop()
            self._next = None
