"""Runs the batches of one model on the thread that computes with models and pages."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import mlx.core as mx

from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.parts import Ended, Parts, Pause, next_part
from pie_mlx.engine.model.runner.batch import Batch, BatchEntry, Outcome
from pie_mlx.engine.model.runner.device_thread import DeviceThread
from pie_mlx.engine.model.runner.pipeline import Pipeline
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal import KvPool
from pie_mlx.metal.faults import DEVICE_ERRORS
from pie_mlx.metal.page_pool.kernel_pool import independent_copies

T = TypeVar("T")

PageCopies = Sequence[tuple[int, int, int]]
"""Source, target and rows of each."""


class Runner:
    """A model and its pool on the device's thread.

    `run` mutates the pool in place. Every method may be awaited from any task of one event loop; they take effect in
    the order they were called. A batch that fails on the device raises BatchFailedError and keeps nothing (E4): the
    slots it wrote lie beyond every context's length.
    """

    model: LoadedModel
    """There once `load` has returned; only its plain attributes may be read from other threads."""

    def __init__(self, device: DeviceThread | None = None) -> None:
        """Without a `device` it has one of its own, which ends with it."""
        self._owns_device = device is None
        self.device = device or DeviceThread()
        self.is_idle = self.device.is_idle
        self._pipeline: Pipeline | None = None

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
        rest = None if self._pipeline is None else self._pipeline.model.rest
        return asyncio.wrap_future(self.device.submit(work, rest))

    async def in_parts(self, parts: Parts[T], on_pause: Callable[[Pause], None] = lambda pause: None) -> T:
        """Run each part as a `call` of its own, or beside the device, so that other calls run in between. `on_pause`
        gets each pause between two parts. Raises what a part raises."""
        beside = False
        while True:
            do = partial(next_part, parts)
            done = await (asyncio.to_thread(do) if beside else self.call(do))
            if isinstance(done, Ended):
                return done.value
            beside = done.beside
            on_pause(done)

    async def load(
        self, parts: Parts[LoadedModel], on_pause: Callable[[Pause], None] = lambda pause: None
    ) -> LoadedModel:
        """Load the model with `in_parts`. Raises what that raises."""
        self.model = await self.in_parts(parts, on_pause)
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
            self.device.residency.release()

        return self.call(release)

    def hold(self) -> asyncio.Future[None]:
        """Wire memory again that `ease` gave back."""
        return self.call(self.device.residency.hold)

    def close(self) -> None:
        """Let go of the model and its pool once the current batch is done."""
        self.device.thread.submit(self._let_go).result()
        if self._owns_device:
            self.device.close()

    def _let_go(self) -> None:
        if self._pipeline is not None:
            self._pipeline = None
            del self.model

    def _run(self, pipeline: Pipeline, batch: Batch) -> Outcome:
        # Outside the guard: a copy that fails leaves pages with unknown content, which no caller can mend.
        model, copies = pipeline.model, self._copy_at_once(batch) if batch.copies else ()

        def compute() -> Outcome:
            if copies:
                model.pool.copy_pages(copies)
            return pipeline.compute(batch, self.is_idle, self.device.free_since)

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
            self.device.thread.submit(pipeline.begin)
        return outcome

    def _attempt(self, work: Callable[[], T]) -> T:
        pipeline = self._pipeline
        return self.model.attempt(work, (lambda: None) if pipeline is None else pipeline.forget)

    def _copy_at_once(self, batch: Batch) -> PageCopies:
        """Carry out the copies of a batch, but for those that the batch may do, as they can be done twice: returns
        these."""
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
