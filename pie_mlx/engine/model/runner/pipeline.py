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

from pie_mlx.calls import joined
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.runner.batch import (
    Batch,
    BatchEntry,
    EntryResult,
    LogitsRequest,
    Outcome,
    drawn_of,
    last_drawn,
    last_states,
    next_reads,
    next_step_input,
    step_input,
)
from pie_mlx.engine.model.runner.sampling import Sampling
from pie_mlx.errors import BatchFailedError, PieError
from pie_mlx.metal import UnevaluatedError
from pie_mlx.metal.arrays import integers
from pie_mlx.metal.faults import DEVICE_ERRORS, failed_while_running
from pie_mlx.metal.page_pool.pool import Revision

LONGEST_SECONDS = 0.5
"""The longest time of a batch with all steps that follow it: events are about batches, not about steps."""


@dataclass(slots=True)
class UncommittedStep:
    """The step after those `drawn` for `entries`, which are those of the batch at `rows`.

    Its `logits` [R, vocabulary] begin once it is kept, and the outputs of the step before are evaluated; on an ordered
    pool at once. `sampling` draws what its contexts are expected to read, `reads`; None if that is not known yet.
    `is_valid` tells of each row whether it was built on the token that was drawn in the end.
    """

    entries: Sequence[BatchEntry]
    rows: Sequence[int]
    drawn: int
    logits: mx.array
    hidden: mx.array | None
    before: list[Revision]
    reads: Sequence[Sequence[LogitsRequest]] = ()
    sampling: Sampling | None = None
    is_valid: Sequence[bool] = ()
    began_seconds: float | None = None

    @property
    def outputs(self) -> list[mx.array]:
        """The arrays that are computed before it is claimed."""
        return [self.logits] if self.sampling is None else self.sampling.outputs

    def sampling_of(self, entries: Sequence[BatchEntry]) -> Sampling:
        """The draws and probes of some of its contexts."""
        if self.sampling is not None and len(entries) == len(self.entries) and self._reads_as_expected(entries):
            return self.sampling
        rows = {entry.context: row for row, entry in enumerate(self.entries)}
        reads = [[(rows[entry.context], read) for read in entry.reads] for entry in entries]
        tokens = {rows[entry.context]: entry.tokens[-1] for entry in entries}
        return Sampling(self.logits, reads, self.hidden, [tokens.get(row, 0) for row in range(len(self.entries))])

    def kept_of(self, entries: Sequence[BatchEntry]) -> mx.array | None:
        """The hidden states of those `entries` that leave trails, one after the other; None if the step has none."""
        if self.hidden is None:
            return None
        rows = {entry.context: row for row, entry in enumerate(self.entries)}
        return self.hidden[integers([rows[entry.context] for entry in entries if entry.trail is not None])]

    def _reads_as_expected(self, entries: Sequence[BatchEntry]) -> bool:
        """Whether each of `entries` reads what was expected of its context, without any mask."""
        for entry, before, reads in zip(entries, self.entries, self.reads, strict=True):
            if entry.context != before.context or any([read.mask is not None for read in entry.reads]):
                return False
            if list(entry.reads) != reads:
                return False
        return True


class Pipeline:
    """The steps of one model. All of it belongs to the MLX thread."""

    def __init__(self, model: LoadedModel) -> None:
        self.model = model
        self._recurrence = model.network.recurrence if model.recurrent else None
        self._uncommitted: UncommittedStep | None = None

    def compute(self, batch: Batch, may_continue: Callable[[], bool], free_since: float = 0.0) -> Outcome:
        """Results of a batch and of the steps that its continuation commits; what follows them is left in flight.

        Raises what the first step does. A later step that fails only ends the continuation; a batch of its own then
        reports the error. No further step begins once `may_continue` is False. Until `free_since` the device did
        other work, which is no part of the seconds that a step in flight took.
        """
        began, claimed, self._uncommitted = time.perf_counter(), self._uncommitted, None
        kept: mx.array | None = None
        if batch.claims and claimed is not None:
            if self._recurrence is not None:
                self._recurrence.claim([entry.context for entry in batch.entries])
            began = max(claimed.began_seconds or began, free_since)
            sampling = claimed.sampling_of(batch.entries)
            trails = any([entry.trail is not None for entry in batch.entries])
            kept = claimed.kept_of(batch.entries) if trails else None
        else:
            step, reads, inputs = step_input(batch.entries, self.model.trimmed_page_size)
            logits = self.model.forward(step)
            kept = self.model.network.kept if step.kept_rows else None
            if not step.logit_rows:
                self.model.finish(*(() if kept is None else (kept,)))
                if kept is not None:
                    _leave_trails(batch.entries, kept)
                return Outcome([[] for _ in batch.entries], time.perf_counter() - began)
            network = self.model.network
            scores = [network.scores[entry.context] for entry in batch.entries if entry.scored]
            sampling = Sampling(logits, reads, network.hidden, inputs, scores=scores)
        if kept is not None:
            sampling.outputs.append(kept)
        try:
            steps = [self._draw(sampling, batch, [])]
            if kept is not None:
                _leave_trails(batch.entries, kept)
            if self._recurrence is not None:
                self._recurrence.commit(keeps=batch.prefetches)
            ended = time.perf_counter()
            keeps = batch.continuation is None or self._draw_further(batch, steps, may_continue)
            in_flight = self._left(steps[-1]) if keeps else ()
            if not in_flight:
                self._drop()
        except BaseException:
            self._drop()
            raise
        return Outcome(_joined(steps), ended - began, len(steps), time.perf_counter() - ended, in_flight)

    def _draw_further(self, batch: Batch, steps: list[list[EntryResult]], may_continue: Callable[[], bool]) -> bool:
        """Draw the further steps that the continuation wants, and add them to `steps`; returns whether the programs may
        go on."""
        until = time.perf_counter() + LONGEST_SECONDS
        with self._ended_by_errors():
            while _is_wanted(batch, steps[-1]):
                if len(steps) > batch.further or not may_continue() or _pauses(batch, until):
                    return may_continue()
                step = self._draw(self._next(batch, steps), batch, steps)
                if any([isinstance(result, BatchFailedError) for result in step]):
                    return False  # that context fails again where a batch of its own asks for the step
                steps.append(step)
                if self._recurrence is not None:
                    self._recurrence.commit(keeps=batch.prefetches)
        return False

    def begin(self) -> None:
        """Begin the step in flight as a job of its own, on devices where beginning takes as long as computing.

        MLX's CPU backend holds the thread that begins a step until all but ten of its operations are done.
        """
        step = self._uncommitted
        if step is not None and step.began_seconds is None:
            step.began_seconds = time.perf_counter()
            try:
                self._start(step.outputs)
            except DEVICE_ERRORS:
                self.forget()  # no batch has claimed it
                self.model.recover()

    def drain(self) -> None:
        """Compute the step in flight, before something else touches a pool that does not order its writes."""
        if (self._uncommitted is None and not self.model.began_early) or self.model.pool.ordered:
            return
        try:
            self.model.compute(*(() if self._uncommitted is None else self._uncommitted.outputs))
        except DEVICE_ERRORS:
            self.forget()
            self.model.recover()

    def forget(self) -> None:
        """Drop the step in flight; what has begun of it is computed all the same."""
        self._uncommitted = None

    def _draw(self, sampling: Sampling, batch: Batch, steps: Sequence[list[EntryResult]]) -> list[EntryResult]:
        """Draw the step after `steps` of a batch, and build the one after it, if there may be one."""
        model, drawn = self.model, len(steps) + 1
        rows = [row for row, entry in enumerate(batch.entries) if len(entry.further_slots) >= drawn]
        if not rows or not model.follows:
            model.compute(*sampling.outputs)
            return sampling.collect()
        self._start(sampling.outputs)
        self._uncommitted = uncommitted = self._built(sampling, batch, rows, steps)
        if uncommitted is not None and model.pool.ordered:
            uncommitted.before.clear()
            self._start(uncommitted.outputs)
            uncommitted.began_seconds = time.perf_counter()
        elif uncommitted is not None:
            model.begin_early(uncommitted.before)
        results = sampling.collect()
        if uncommitted is not None:
            uncommitted.is_valid = [sampling.keeps_last(row) for row in rows]
            if sampling.leaves_states:
                found = zip(uncommitted.reads, rows, strict=False)
                uncommitted.reads = [[read.after(last_states(results[row])) for read in reads] for reads, row in found]
        return results

    def _start(self, outputs: Sequence[mx.array]) -> None:
        """Start to evaluate the outputs of the step that was built last, and what its recurrent layers leave."""
        self.model.begin(*outputs, *(() if self._recurrence is None else self._recurrence.arrays()))

    def _built(
        self, sampling: Sampling, batch: Batch, rows: Sequence[int], steps: Sequence[list[EntryResult]]
    ) -> UncommittedStep | None:
        """The step after the one that is being drawn, which follows `steps`; None where it can only be built later."""
        entries, drawn = [batch.entries[row] for row in rows], len(steps) + 1
        try:
            tokens = sampling.last_tokens(rows)
            logits, before = self.model.follow(next_step_input(entries, drawn, tokens))
        except (UnevaluatedError, *DEVICE_ERRORS) as error:
            if failed_while_running(error):
                raise  # MLX tells once that the step before has failed
            return None  # if it is the model that fails, it will do so again where a batch waits for it
        step = UncommittedStep(entries, rows, drawn, logits, self.model.network.hidden, before)
        if all([_reads_alike(entry) for entry in entries]):
            pairs = zip(rows, entries, strict=True)
            step.reads = [next_reads(entry, drawn, _drawn(steps, row)) for row, entry in pairs]
            rows_read = [[(row, read) for read in reads] for row, reads in enumerate(step.reads)]
            step.sampling = Sampling(logits, rows_read, step.hidden, tokens, sampling.last_states(rows))
        return step

    def _next(self, batch: Batch, steps: Sequence[list[EntryResult]]) -> Sampling:
        """The step after the last one, under the masks that now are known. Raises PieError where there are none."""
        drawn, masks = len(steps), () if batch.continuation is None else batch.continuation.masks()
        tokens = [token for result in steps[-1] for token in last_drawn(result)]
        uncommitted = self._uncommitted
        if uncommitted is not None and all(uncommitted.is_valid):
            self._uncommitted = None
            uncommitted.before.clear()
            logits, hidden = uncommitted.logits, uncommitted.hidden
            if uncommitted.sampling is not None and not any([mask is not None for mask in masks]):
                return uncommitted.sampling
        else:
            if uncommitted is not None:
                del uncommitted  # it would hold the pool
                self._drop()
                self.model.compute()  # its first layers may have begun
            logits = self.model.forward(next_step_input(batch.entries, drawn, tokens))
            hidden = self.model.network.hidden
        reads: list[list[tuple[int, LogitsRequest]]] = []
        for row, (entry, mask) in enumerate(zip(batch.entries, masks, strict=True)):
            (read,) = next_reads(entry, drawn, _drawn(steps, row))
            reads.append([(row, replace(read.after(last_states(steps[-1][row])), mask=mask))])
        return Sampling(logits, reads, hidden, tokens)

    def _left(self, results: Sequence[EntryResult]) -> Sequence[BatchEntry]:
        """Keep the step that is built as the one in flight: its rows, with the tokens that they were built on."""
        uncommitted = self._uncommitted
        if uncommitted is None:
            return ()
        rows = zip(uncommitted.rows, uncommitted.entries, uncommitted.is_valid, strict=True)
        last = [(entry, last_drawn(results[row])) for row, entry, valid in rows if valid]
        in_flight = [_row_after(entry, uncommitted.drawn, tokens) for entry, tokens in last if tokens]
        if in_flight:
            uncommitted.before.clear()
        return in_flight

    def _drop(self) -> None:
        """A step that is built and not begun was never built: whatever of it were kept would hold the pool, and the
        next step copy all of it."""
        uncommitted, self._uncommitted = self._uncommitted, None
        if uncommitted is not None:
            for revision in uncommitted.before:
                revision.restore()
            self.model.network.forget()

    @contextlib.contextmanager
    def _ended_by_errors(self) -> Generator[None]:
        """What a later step was to write must not fail the next batch, which has no part in it."""
        try:
            yield
        except PieError:
            pass
        except DEVICE_ERRORS:
            self.model.recover()


def _leave_trails(entries: Sequence[BatchEntry], kept: mx.array) -> None:
    """`kept` [rows, width] are the hidden states of the entries that leave trails, one after the other."""
    start = 0
    for entry in entries:
        if entry.trail is not None:
            stop = start + len(entry.tokens)
            entry.trail.add(entry.kv_length - len(entry.tokens), kept[start:stop])
            start = stop


def _is_wanted(batch: Batch, results: Sequence[EntryResult]) -> bool:
    """Whether another step may follow, now that each context has drawn a token. Raises PieError."""
    if batch.continuation is None or any([isinstance(result, BatchFailedError) for result in results]):
        return False
    goes_on = batch.continuation.advance([token for result in results for token in last_drawn(result)])
    return goes_on and not any([value.ended for result in results for value in drawn_of(result)])


def _pauses(batch: Batch, until: float) -> bool:
    return time.perf_counter() >= until or (batch.continuation is not None and batch.continuation.pauses())


def _drawn(steps: Sequence[Sequence[EntryResult]], row: int) -> list[int]:
    """What was drawn in `steps` for one of the entries, each of which draws one token in each."""
    return [token for results in steps for token in last_drawn(results[row])]


def _joined(steps: Sequence[Sequence[EntryResult]]) -> Sequence[EntryResult]:
    """The results of all steps as those of one: where there are several, each context draws one token in each."""
    if len(steps) == 1:
        return steps[0]
    return [
        [joined([value for result in results for value in drawn_of(result)])] for results in zip(*steps, strict=True)
    ]


def _row_after(entry: BatchEntry, drawn: int, tokens: Sequence[int]) -> BatchEntry:
    """The row that computes `tokens`, the last one of those `drawn` for `entry`."""
    return BatchEntry(
        context=entry.context,
        tokens=tokens,
        positions=[entry.positions[-1] + drawn],
        slots=[entry.further_slots[drawn - 1]],
        block_table=entry.block_table,
        kv_length=entry.kv_length + drawn,
        adapters=None if entry.adapters is None else entry.adapters[-1:],
    )


def _reads_alike(entry: BatchEntry) -> bool:
    """Whether it is known what the context would read of the next step: what it reads of its last input, unmasked."""
    last = len(entry.tokens) - 1
    return bool(entry.reads) and all([read.index == last and read.mask is None for read in entry.reads])
