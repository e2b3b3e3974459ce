"""Runs batches on the one thread that owns every `mx` call."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

import mlx.core as mx

from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.memory import Residency
from pie_mlx.engine.model.runner.batch import Batch, BatchEntry, Outcome
from pie_mlx.engine.model.runner.pipeline import Pipeline
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal import KvPool
from pie_mlx.metal.faults import DEVICE_ERRORS
from pie_mlx.metal.page_pool.kernel_pool import independent_copies

T = TypeVar("T")

PageCopies = Sequence[tuple[int, int, int]]
"""Source, target and rows of each."""


class Runner:
    """The model, its pool and their thread.

    `run` mutates the pool in place. Every method may be awaited from any task of one event loop; they take effect in
    the order they were called. A batch that fails on the device raises BatchFailedError and keeps nothing (E4): the
    slots it wrote lie beyond every context's length.
    """

    model: LoadedModel
    """There once `load` has returned; only its plain attributes may be read from other threads."""

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pie-mlx")
        self._pipeline: Pipeline | None = None
        self.residency = Residency()
        self._submitted, self._begun, self._given_up = 0, 0, 0  # each is written by one thread

    def call(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Begin `work` on the MLX thread, when nothing is being computed there."""
        return self._submit(lambda: self._drained(work))

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
                if self._pipeline is not None:
                    self._pipeline.model.rest()

        self._submitted += 1
        future = self._thread.submit(counted)
        future.add_done_callback(self._count_given_up)
        return asyncio.wrap_future(future)

    def _count_given_up(self, future: Future[Any]) -> None:
        if future.cancelled():  # on the loop; a thread that finishes it calls this there, and must not write
            self._given_up += 1

    async def load(self, load_model: Callable[[], LoadedModel]) -> LoadedModel:
        """Load the model on its thread. Raises what `load_model` raises."""
        self.model = await self.call(load_model)
        self._pipeline = Pipeline(self.model)
        return self.model

    def run(self, batch: Batch) -> asyncio.Future[Outcome]:
        """Begin a batch, with what its continuation and its entries want after it. Raises BatchFailedError."""
        if self._pipeline is None:
            raise RuntimeError("runner: load() comes first")
        run = partial(self._run, self._pipeline, batch)
        return self._submit(run) if batch.claims else self.call(run)

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
        if self._pipeline is not None:
            self._pipeline = None
            del self.model

    def _run(self, pipeline: Pipeline, batch: Batch) -> Outcome:
        # Outside the guard: a copy that fails leaves pages with unknown content, which no caller can mend.
        model, copies = pipeline.model, self._copy_at_once(batch) if batch.copies else ()

        def compute() -> Outcome:
            if copies:
                model.pool.copy_pages(copies)
            return pipeline.compute(batch, self.is_idle)

        try:
            outcome = model.attempt(compute, pipeline.forget)
        except DEVICE_ERRORS as error:
            model.recover()
            raise BatchFailedError(
                f"forward: the batch failed on the device: {error}",
                hint="the contexts are as they were before it; try again with fewer or shorter inputs",
                cause=str(error),
            ) from error
        if outcome.in_flight and not model.pool.ordered:
            self._thread.submit(pipeline.begin)
        return outcome

    def _attempt(self, work: Callable[[], T]) -> T:
        pipeline = self._pipeline
        return self.model.attempt(work, (lambda: None) if pipeline is None else pipeline.forget)

    def _copy_at_once(self, batch: Batch) -> PageCopies:
        """Carry out the copies of a batch; answers those that are left to it, because they can be done twice."""
        copies = [(copy.source, copy.target, copy.rows) for copy in batch.copies]
        if self.model.pool.ordered and _can_be_repeated(copies, batch.entries, self.model.pool.page_size):
            return copies
        self._drained(lambda: self._copy(copies))
        return ()

    def _copy(self, copies: PageCopies) -> None:
        if not self.model.pool.ordered:
            self.model.pool.copy_pages(copies)
            return

        def copy(part: PageCopies) -> None:
            self.model.pool.copy_pages(part)
            self.model.compute()

        for part in independent_copies(copies):
            self._attempt(partial(copy, part))

    def is_idle(self) -> bool:
        """Whether nothing waits for what runs now."""
        return self._submitted == self._begun + self._given_up

    def _drained(self, work: Callable[[], T]) -> T:
        """`work`, once what is in flight is computed."""
        if self._pipeline is not None:
            self._pipeline.drain()
        return work()


def _can_be_repeated(copies: PageCopies, entries: Sequence[BatchEntry], page_size: int) -> bool:
    """Whether neither these copies nor the batch of `entries` after them change what the copies read."""
    sources = {source: rows for source, _, rows in sorted(copies, key=lambda copy: copy[2])}
    written = (divmod(slot, page_size) for entry in entries for slot in (*entry.slots, *entry.further_slots))
    changed = any(offset < sources.get(page, 0) for page, offset in written)
    return not changed and sources.keys().isdisjoint(target for _, target, _ in copies)
