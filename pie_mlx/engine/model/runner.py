"""Runs batches on the one thread that owns every `mx` call, but for those of a second one while the first waits."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import mlx.core as mx

from pie_mlx.engine.model.ahead import Ahead
from pie_mlx.engine.model.batch import Batch, Outcome, Work
from pie_mlx.engine.model.burst import Burst
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.memory import Residency
from pie_mlx.engine.model.ragged import Reads, step_input
from pie_mlx.engine.model.reading import Reading
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal import KvPool, UnsettledError
from pie_mlx.metal.faults import failed_while_running
from pie_mlx.metal.kernel_pool import independent_copies

T = TypeVar("T")

PageCopies = Sequence[tuple[int, int, int]]
"""Source, target and rows of each."""


class Runner:
    """The model, its pool and their thread.

    `run` mutates the pool in place. Every method may be awaited from any task of one event loop; they take effect in
    the order they were called. A batch that fails on the device raises BatchFailedError and keeps nothing (E4): the
    slots it wrote lie beyond every context's length.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pie-mlx")
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="pie-beside")  # works while `_thread` waits
        self._model: LoadedModel | None = None
        self.residency = Residency()
        self._ahead: Ahead | None = None
        self._submitted, self._begun, self._given_up = 0, 0, 0  # each is written by one thread

    @property
    def model(self) -> LoadedModel:
        """The loaded model; only its plain attributes may be read from other threads."""
        if self._model is None:
            raise RuntimeError("runner: load() comes first")
        return self._model

    def call(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Begin `work` on the MLX thread, when nothing is being computed there."""
        return self._submit(lambda: self._settled(work))

    def move_pages(self, move: Callable[[KvPool], T]) -> asyncio.Future[T]:
        """`call` for what a pool reads or writes at once; done once more where a kernel fails in it."""
        return self.call(lambda: self._attempt(lambda: move(self.model.pool)))

    def copy_pages(self, copies: PageCopies) -> asyncio.Future[None]:
        """`call` for copies: the first `rows` slots of page `source` to page `target`, in order."""
        return self.call(lambda: self._copy(copies))

    def _submit(self, work: Callable[[], T]) -> asyncio.Future[T]:
        def counted() -> T:
            self._begun += 1
            try:
                return work()
            finally:
                if self._model is not None:
                    self._model.rest()

        self._submitted += 1
        future = self._thread.submit(counted)
        future.add_done_callback(self._count_given_up)
        return asyncio.wrap_future(future)

    def _count_given_up(self, future: Future[Any]) -> None:
        if future.cancelled():  # on the loop; whoever finishes it calls this on its own thread, and must not write
            self._given_up += 1

    async def load(self, load_model: Callable[[], LoadedModel]) -> LoadedModel:
        """Load the model on its thread. Raises what `load_model` raises."""
        model = await self.call(load_model)
        self._model = model
        return model

    def run(self, batch: Batch, successors: Sequence[Work] = ()) -> asyncio.Future[Outcome]:
        """Begin a batch, and behind it `successors` as far as that is possible. Raises BatchFailedError.

        Successors are works of one token each, the one that their context's work in the batch draws last. What they
        read is foreseen, or empty where it cannot be: their program tells with `go_on`, or never, and what they wrote
        lies beyond every context's length.
        """
        return self.call(lambda: self._run(batch, successors))

    def go_on(self, batch: Batch, successors: Sequence[Work] = ()) -> asyncio.Future[Outcome]:
        """What a batch reads of the rows that run ahead; they are among those last `followed`. Raises BatchFailedError.

        The other rows are dropped; `successors` as in `run`.
        """
        return self._submit(lambda: self._go_on(batch, successors))

    def ease(self) -> asyncio.Future[None]:
        """Give back what the device holds beside arrays in use: freed buffers, and wired memory until `hold`."""

        def release() -> None:
            mx.clear_cache()
            self.residency.release()

        return self.call(release)

    def hold(self) -> asyncio.Future[None]:
        """Wire memory again that `ease` gave back."""
        return self.call(self.residency.hold)

    def close(self) -> None:
        """End the threads once the current batch is done, with the wired limit that was there before."""
        self._thread.submit(self.residency.release)
        self._thread.shutdown(wait=True)
        self._beside.shutdown(wait=True)
        self._model = None

    def _run(self, batch: Batch, successors: Sequence[Work]) -> Outcome:
        self._ahead = None
        return self._go_on(batch, successors)

    def _go_on(self, batch: Batch, successors: Sequence[Work]) -> Outcome:
        # Outside the guard: a copy that fails leaves pages with unknown content, which no caller can mend.
        copies = self._copy_at_once(batch, successors)
        with self._told_as_failed_batch():
            return self._attempt(lambda: self._compute(batch, copies, successors))

    def _attempt(self, work: Callable[[], T]) -> T:
        return self.model.attempt(work, self._drop_ahead)

    def _drop_ahead(self) -> None:
        self._ahead = None

    def _copy_at_once(self, batch: Batch, successors: Sequence[Work]) -> PageCopies:
        """Carry out the copies of a batch; answers those that are left to it, because they can be done twice."""
        copies = [(copy.source, copy.target, copy.rows) for copy in batch.copies]
        works = (*batch.works, *successors)
        if copies and self.model.pool.ordered and _can_be_repeated(copies, works, self.model.pool.page_size):
            return copies
        if copies:
            self._settled(lambda: self._copy(copies))
        return ()

    def _copy(self, copies: PageCopies) -> None:
        if not self.model.pool.ordered:
            self.model.pool.copy_pages(copies)
            return

        def copy(part: PageCopies) -> None:
            self.model.pool.copy_pages(part)
            self.model.settle()

        for part in independent_copies(copies):
            self._attempt(partial(copy, part))

    def _compute(self, batch: Batch, copies: PageCopies, successors: Sequence[Work]) -> Outcome:
        """Results of a batch: of what runs ahead, the first time that it is asked for, or computed now."""
        started = time.perf_counter()
        ahead, self._ahead = self._ahead, None
        if copies:
            self.model.pool.copy_pages(copies)
        if ahead is not None:
            return self._read(batch, ahead.reading(batch.works), successors, ahead.begun)
        step, reads = step_input(batch.works, self.model.trimmed_page_size)
        logits = self.model.forward(step, timed=True)
        threads = self.model.product_threads
        outcome = self._computed(batch, logits, reads, successors, started)
        self.model.took(threads, len(step.positions), outcome.seconds)
        return outcome

    def _computed(
        self, batch: Batch, logits: mx.array, reads: Reads, successors: Sequence[Work], started: float
    ) -> Outcome:
        """What a step that is built gives, with what follows it."""
        if not any(reads):
            self.model.settle()
            return Outcome([[] for _ in batch.works], time.perf_counter() - started)
        reading = Reading(logits.astype(mx.float32), reads, self.model.hidden)
        return self._read(batch, reading, successors, started)

    @property
    def _is_idle(self) -> bool:
        """Whether nothing waits for what runs now."""
        return self._submitted == self._begun + self._given_up

    def _read(self, batch: Batch, reading: Reading, successors: Sequence[Work], begun: float) -> Outcome:
        """Results of a step that is built, and of those that follow it at once; its successors run behind it."""
        works = batch.works
        if batch.following is not None:
            burst = Burst(self.model, self._beside, works, batch.following, tail=batch.tail)
            outcome = burst.run(reading, begun, lambda: self._is_idle)
            self._run_ahead(burst.ahead)
            return outcome
        if not successors:
            self.model.settle(*reading.outputs)
            return Outcome(reading.collect(), time.perf_counter() - begun)
        beside = self._beside if self.model.builds_beside(len(successors)) else None
        ahead = self.model.begin_and_build(
            reading.outputs, lambda: self._build_ahead(works, reading, successors), beside
        )
        if ahead is not None and self.model.pool.ordered:
            self.model.begin(*ahead.outputs)
            ahead.begun = time.perf_counter()
            results = reading.collect()
            self._ahead = ahead
        else:
            if ahead is not None:
                self.model.begin_early()
            results = reading.collect()
            self._run_ahead(ahead)
        return Outcome(results, time.perf_counter() - begun, self._followed(works, reading))

    def _build_ahead(self, works: Sequence[Work], reading: Reading, successors: Sequence[Work]) -> Ahead | None:
        place = {work.context: index for index, work in enumerate(works)}
        step, _ = step_input(successors)
        drawn = reading.last_tokens([place[work.context] for work in successors])
        try:
            logits = self.model.follow(replace(step, tokens=drawn, logit_rows=list(range(len(successors))))).keep()
            return Ahead.of(successors, logits, self.model.hidden)
        except (UnsettledError, RuntimeError, ValueError, MemoryError) as error:
            if failed_while_running(error):
                raise  # what it tells of is the step before, and it is told once
            return None  # if it is the model that fails, it will do so again where somebody waits for it

    def _run_ahead(self, ahead: Ahead | None) -> None:
        """Begin a step once this job is over.

        As a job of its own, since it takes as long as the step: MLX's CPU backend holds whoever begins one until all
        but ten operations are done.
        """
        self._ahead = ahead
        if ahead is not None:
            self._thread.submit(self._begin, ahead)

    def _begin(self, ahead: Ahead) -> None:
        if self._ahead is ahead:
            ahead.begun = time.perf_counter()
            try:
                self.model.begin(*ahead.outputs)
            except (RuntimeError, ValueError, MemoryError):
                self._ahead = None  # what is begun may be anything, and is told of only once
                self.model.recover()

    def _followed(self, works: Sequence[Work], reading: Reading) -> frozenset[int]:
        """Contexts whose row runs ahead on the token that was drawn in the end."""
        ahead = () if self._ahead is None else self._ahead.works
        kept = {work.context for index, work in enumerate(works) if reading.keeps_last(index)}
        return frozenset(work.context for work in ahead if work.context in kept)

    @contextlib.contextmanager
    def _told_as_failed_batch(self) -> Generator[None]:
        try:
            yield
        except (RuntimeError, ValueError, MemoryError) as error:
            self.model.recover()
            raise BatchFailedError(
                f"forward: the batch failed on the device: {error}",
                hint="the contexts are as they were before it; try again with fewer or shorter inputs",
                cause=str(error),
            ) from error

    @property
    def _is_unsettled(self) -> bool:
        """Whether something is computed behind the last job that touches a pool which only one step may."""
        model = self._model
        return model is not None and (self._ahead is not None or model.began_early) and not model.pool.ordered

    def _settled(self, work: Callable[[], T]) -> T:
        """`work`, once what runs ahead is computed."""
        if self._is_unsettled:
            try:
                self.model.settle(*(() if self._ahead is None else self._ahead.outputs))
            except (RuntimeError, ValueError, MemoryError):
                self._ahead = None  # nobody asked for it so far
                self.model.recover()
        return work()


def _can_be_repeated(copies: PageCopies, works: Sequence[Work], page_size: int) -> bool:
    """Whether neither these copies nor the batch of `works` behind them change what the copies read."""
    sources = {source: rows for source, _, rows in sorted(copies, key=lambda copy: copy[2])}
    written = (divmod(slot, page_size) for work in works for slot in (*work.slots, *work.further_slots))
    changed = any(offset < sources.get(page, 0) for page, offset in written)
    return not changed and sources.keys().isdisjoint(target for _, target, _ in copies)
