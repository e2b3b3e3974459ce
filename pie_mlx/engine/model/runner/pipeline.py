"""Steps that are built but not committed: each computes what the step before it draws.

While a step is computed, the next one is built on tokens that are still being drawn. On a pool that orders its writes
(`KvPool.ordered`, an Apple GPU) it begins at once, so that the device never waits for the host; elsewhere only its
first layers do, where that pays. A continuation commits such steps one after the other, without a plan for each. The
last one stays in flight until the next batch claims some of its rows. What is dropped wrote beyond the end of every
context, and is overwritten before anything reads it, because all that touches pages runs on one thread in order.
"""

import contextlib
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace

import mlx.core as mx
from msgspec.structs import replace as replaced

from pie_mlx.calls import SampledTokens, Sampler, joined
from pie_mlx.engine.model.loaded import LoadedModel, TentativeStep
from pie_mlx.engine.model.runner.batch import (
    Batch,
    LogitsRequest,
    Outcome,
    PackedMask,
    ScheduledTokens,
    WorkResult,
    drawn,
    is_read_alike,
    last_drawn,
)
from pie_mlx.engine.model.runner.ragged import step_input
from pie_mlx.engine.model.runner.reading import Sampling
from pie_mlx.errors import BatchFailedError, PieError
from pie_mlx.metal import UnsettledError
from pie_mlx.metal.faults import DEVICE_ERRORS, failed_while_running

LONGEST_SECONDS = 0.5
"""Time after which no further step follows a batch at once: events tell of batches, not of steps."""


@dataclass(slots=True)
class UncommittedStep:
    """A step behind the last one: a row of each of `works`, which are those of the batch at `rows`.

    `reading` is what is read of it, None where its masks are not known yet. `is_valid` tells of each row whether it was
    built on the token that was drawn in the end.
    """

    works: Sequence[ScheduledTokens]
    rows: Sequence[int]
    built: TentativeStep
    logits: mx.array
    hidden: mx.array | None
    reading: Sampling | None
    is_valid: Sequence[bool] = ()
    began_seconds: float | None = None

    @staticmethod
    def of(
        works: Sequence[ScheduledTokens], rows: Sequence[int], built: TentativeStep, hidden: mx.array | None
    ) -> "UncommittedStep":
        """Before anything of it is computed."""
        step = UncommittedStep(works, rows, built, built.logits.astype(mx.float32), hidden, None)
        if all(work.reads for work in works):
            step.reading = step._reading(works)
        return step

    @property
    def outputs(self) -> list[mx.array]:
        """What is computed of it before it is claimed."""
        return [self.logits] if self.reading is None else self.reading.outputs

    def reading_of(self, works: Sequence[ScheduledTokens]) -> Sampling:
        """What some of its contexts read."""
        alike = len(works) == len(self.works) and all(map(is_read_alike, self.works, works))
        return self.reading if alike and self.reading is not None else self._reading(works)

    def _reading(self, works: Sequence[ScheduledTokens]) -> Sampling:
        rows = {work.context: row for row, work in enumerate(self.works)}
        return Sampling(
            self.logits, [[(rows[work.context], read) for read in work.reads] for work in works], self.hidden
        )


class Pipeline:
    """The steps of one model. All of it belongs to the MLX thread."""

    def __init__(self, model: LoadedModel) -> None:
        self.model = model
        self._behind: UncommittedStep | None = None

    def compute(self, batch: Batch, may_continue: Callable[[], bool]) -> Outcome:
        """Results of a batch and of the steps that its continuation commits; what follows them is left in flight.

        Raises what the first step does. A later step that fails only ends the continuation, and fails again when a
        batch of its own asks for it. No further step begins once `may_continue` is False.
        """
        began, claimed, self._behind = time.perf_counter(), self._behind, None
        if batch.claims and claimed is not None:
            began, reading = claimed.began_seconds or began, claimed.reading_of(batch.works)
        else:
            step, reads = step_input(batch.works, self.model.trimmed_page_size)
            logits = self.model.forward(step)
            if not any(reads):
                self.model.settle()
                return Outcome([[] for _ in batch.works], time.perf_counter() - began)
            reading = Sampling(logits.astype(mx.float32), reads, self.model.hidden)
        try:
            return self._computed(batch, reading, began, may_continue)
        except BaseException:
            self._drop()
            raise

    def _computed(self, batch: Batch, first: Sampling, began: float, may_continue: Callable[[], bool]) -> Outcome:
        steps = _Steps(batch)
        results = self._draw(first, steps)
        ended, keeps = time.perf_counter(), True
        if batch.continuation is not None:
            keeps = False
            with self._ended_by_errors():
                steps.add(results)
                while steps.wants_more and may_continue() and time.perf_counter() < ended + LONGEST_SECONDS:
                    steps.add(self._draw(self._next(steps), steps))
                keeps = steps.wanted and may_continue()
            results = steps.results() or results
        in_flight = self._left(results) if keeps else ()
        if not in_flight:
            self._drop()
        return Outcome(results, ended - began, max(1, steps.count), time.perf_counter() - ended, in_flight)

    def begin(self) -> None:
        """Begin what is in flight, where that takes as long as computing it: a job of its own.

        MLX's CPU backend holds the thread that begins a step until all but ten of its operations are done.
        """
        step = self._behind
        if step is not None and step.began_seconds is None:
            step.began_seconds = time.perf_counter()
            try:
                self.model.begin(*step.outputs)
            except DEVICE_ERRORS:
                self.forget()  # no batch has claimed it
                self.model.recover()

    @property
    def is_waiting(self) -> bool:
        """Whether something is in flight that has not begun."""
        return self._behind is not None and self._behind.began_seconds is None

    def settle(self) -> None:
        """Compute what is in flight, before something else touches a pool that does not order its writes."""
        if (self._behind is None and not self.model.began_early) or self.model.pool.ordered:
            return
        try:
            self.model.settle(*(() if self._behind is None else self._behind.outputs))
        except DEVICE_ERRORS:
            self.forget()
            self.model.recover()

    def forget(self) -> None:
        """Nothing is in flight any more; what of it has begun is computed all the same."""
        self._behind = None

    def _draw(self, reading: Sampling, steps: "_Steps") -> list[WorkResult]:
        """What a step draws, with the next one built behind it if there is one."""
        model, rows = self.model, steps.rows_behind()
        if not rows or not model.follows:
            model.settle(*reading.outputs)
            return reading.collect()
        model.begin(*reading.outputs)
        self._behind = behind = self._built(reading, rows, steps)
        if behind is not None and model.pool.ordered:
            behind.built.keep()
            model.begin(*behind.outputs)
            behind.began_seconds = time.perf_counter()
        elif behind is not None:
            model.begin_early(behind.built)
        results = reading.collect()
        if behind is not None:
            behind.is_valid = [reading.keeps_last(row) for row in rows]
        return results

    def _built(self, reading: Sampling, rows: Sequence[int], steps: "_Steps") -> UncommittedStep | None:
        """The step behind the one that is being drawn; None where it can only be built later."""
        works = [steps.work_behind(row) for row in rows]
        step, _ = step_input(works)
        try:
            tokens = reading.last_tokens(rows)
            built = self.model.follow(replace(step, tokens=tokens, logit_rows=range(len(rows))))
        except (UnsettledError, *DEVICE_ERRORS) as error:
            if failed_while_running(error):
                raise  # MLX tells once that the step before has failed
            return None  # if it is the model that fails, it will do so again where a batch waits for it
        return UncommittedStep.of(works, rows, built, self.model.hidden)

    def _next(self, steps: "_Steps") -> Sampling:
        """The step behind the last one, under the masks that now are known. Raises PieError where there are none."""
        masks = steps.masks()
        if self._behind is not None and all(self._behind.is_valid):
            behind, self._behind = self._behind, None
            behind.built.keep()
            if behind.reading is not None and not any(mask is not None for mask in masks):
                return behind.reading
            return Sampling(behind.logits, steps.reads(masks))
        if self._behind is not None:
            self._drop()
            self.model.settle()  # its first layers may have begun
        logits = self.model.forward(step_input(steps.works())[0])
        return Sampling(logits.astype(mx.float32), steps.reads(masks))

    def _left(self, results: Sequence[WorkResult]) -> Sequence[ScheduledTokens]:
        """Keep the step that is built as the one in flight: its rows, with the tokens that they were built on."""
        behind = self._behind
        if behind is None:
            return ()
        rows = zip(behind.rows, behind.works, behind.is_valid, strict=True)
        last = [(work, last_drawn(results[row])) for row, work, valid in rows if valid]
        in_flight = [replaced(work, tokens=tokens) for work, tokens in last if tokens]
        if in_flight:
            behind.built.keep()
        return in_flight

    def _drop(self) -> None:
        """What is built and not begun was never built: whatever of it were kept would hold the pool."""
        if self._behind is not None:
            self._behind.built.drop()
            self._behind = None

    @contextlib.contextmanager
    def _ended_by_errors(self) -> Generator[None]:
        """What a later step was to write must not fail the next batch, which has no part in it."""
        try:
            yield
        except PieError:
            pass
        except DEVICE_ERRORS:
            self.model.recover()


class _Steps:
    """What was drawn so far in the steps of a batch, and the rows of the next one.

    Where the batch has a continuation, each of its works draws one token, at its last input, and reads nothing else.
    """

    def __init__(self, batch: Batch) -> None:
        self._works, self._continuation, self._further = batch.works, batch.continuation, batch.further
        self._drawn: list[list[SampledTokens]] = [[] for _ in batch.works]
        self.wanted = False

    @property
    def count(self) -> int:
        """Steps that were drawn, the batch itself among them."""
        return len(self._drawn[0])

    @property
    def wants_more(self) -> bool:
        """Whether another step is to be committed."""
        return self.wanted and self.count <= self._further

    def rows_behind(self) -> list[int]:
        """The works that have a slot for the step behind the one that is being drawn."""
        return [row for row, work in enumerate(self._works) if len(work.further_slots) > self.count]

    def work_behind(self, row: int) -> ScheduledTokens:
        """The row of that step, on a token that is not known yet. It reads what the last one does, if that is sure."""
        work, last = self._works[row], len(self._works[row].tokens) - 1
        sure = all(read.index == last and read.mask is None for read in work.reads)
        reads = tuple(_next_read(read, self.count + 1) for read in work.reads) if sure else ()
        return _next_work(work, self.count + 1, 0, reads)

    def works(self) -> list[ScheduledTokens]:
        """The step behind the last one, on the tokens that were drawn."""
        count, pairs = self.count, zip(self._works, self._drawn, strict=True)
        return [_next_work(work, count, s[-1].tokens[0], (_next_read(work.reads[0], count),)) for work, s in pairs]

    def masks(self) -> Sequence[PackedMask | None]:
        """What each row of it may draw. Raises PieError where that cannot be told."""
        return () if self._continuation is None else self._continuation.masks()

    def reads(self, masks: Sequence[PackedMask | None]) -> list[list[tuple[int, LogitsRequest]]]:
        """What is drawn in it, with the row of its logits."""
        pairs = zip(self._works, masks, strict=True)
        return [
            [(row, replace(_next_read(work.reads[0], self.count), mask=mask))] for row, (work, mask) in enumerate(pairs)
        ]

    def add(self, results: Sequence[WorkResult]) -> None:
        """A step is drawn; where one of the works has failed it is none, and that work will fail again.

        Raises PieError, with the tokens added, where a grammar does not tell whether more may follow.
        """
        self.wanted = False
        if self._continuation is None or any(isinstance(result, BatchFailedError) for result in results):
            return
        step = [value for result in results for value in drawn(result)]
        for steps, value in zip(self._drawn, step, strict=True):
            steps.append(value)
        self.wanted = self._continuation.advance([value.tokens[0] for value in step])

    def results(self) -> list[WorkResult]:
        """The tokens of all steps; nothing where not even the first was one."""
        return [[joined(steps)] for steps in self._drawn] if self.count else []


def _next_work(work: ScheduledTokens, drawn: int, token: int, reads: tuple[LogitsRequest, ...]) -> ScheduledTokens:
    """The row that computes `token`, the last of those `drawn` for `work`."""
    return ScheduledTokens(
        context=work.context,
        tokens=[token],
        positions=[work.positions[-1] + drawn],
        slots=[work.further_slots[drawn - 1]],
        block_table=work.block_table,
        kv_length=work.kv_length + drawn,
        reads=reads,
        adapters=None if work.adapters is None else work.adapters[-1:],
    )


def _next_read(read: LogitsRequest, drawn: int) -> LogitsRequest:
    counter = read.counter + drawn if isinstance(read.read, Sampler) else read.counter
    return LogitsRequest(0, read.read, read.stream, counter)
