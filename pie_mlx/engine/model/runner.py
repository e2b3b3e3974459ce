"""Runs batches on the one thread that owns every `mx` call."""

import asyncio
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import mlx.core as mx
from msgspec.structs import replace

from pie_mlx.engine.model.batch import Batch, RowRead, Work, WorkResult, last_drawn
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.reading import Reading
from pie_mlx.engine.model.step import AdapterUse, Segment, StepInput
from pie_mlx.errors import BatchFailedError

T = TypeVar("T")

_NO_ADAPTER: AdapterUse = (0, 0, 0)


def step_input(works: Sequence[Work]) -> tuple[StepInput, list[list[tuple[int, RowRead]]]]:
    """The ragged arrays of a batch, and for every work its reads with their row among the logits.

    Reads of one token share a row: the head runs once per distinct (work, token).
    """
    segments: list[Segment] = []
    logit_rows: list[int] = []
    reads: list[list[tuple[int, RowRead]]] = []
    start = 0
    for work in works:
        segments.append(Segment(work.context, start, len(work.tokens), work.block_table, work.kv_length, work.masks))
        rows = {index: len(logit_rows) + rank for rank, index in enumerate(sorted({r.index for r in work.reads}))}
        logit_rows += [start + index for index in rows]
        reads.append([(rows[read.index], read) for read in work.reads])
        start += len(work.tokens)
    step = StepInput(
        tokens=[token for work in works for token in work.tokens],
        positions=[position for work in works for position in work.positions],
        slots=[slot for work in works for slot in work.slots],
        segments=tuple(segments),
        logit_rows=logit_rows,
        adapters=_adapters(works),
    )
    return step, reads


def _adapters(works: Sequence[Work]) -> list[AdapterUse] | None:
    if all(work.adapters is None for work in works):
        return None
    return [use for work in works for use in work.adapters or [_NO_ADAPTER] * len(work.tokens)]


class Runner:
    """The model, its pool and their thread.

    `run` mutates the pool in place. Every method may be awaited from any task of one event loop; they take effect in
    the order they were called. A batch that fails on the device raises BatchFailedError and keeps nothing (E4): the
    slots it wrote lie beyond every context's length.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pie-mlx")
        self._model: LoadedModel | None = None
        self._drawn: dict[int, int] = {}

    @property
    def model(self) -> LoadedModel:
        """The loaded model; only its plain attributes may be read from other threads."""
        if self._model is None:
            raise RuntimeError("runner: load() comes first")
        return self._model

    def call(self, work: Callable[[], T]) -> asyncio.Future[T]:
        """Begin `work` on the MLX thread."""
        return asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def load(self, load_model: Callable[[], LoadedModel]) -> LoadedModel:
        """Load the model on its thread. Raises what `load_model` raises."""
        model = await self.call(load_model)
        self._model = model
        return model

    def run(self, batch: Batch) -> asyncio.Future[tuple[list[WorkResult], float]]:
        """Begin a batch: results of every work in order, and the seconds the device took. Raises BatchFailedError."""
        return self.call(lambda: self._run(batch))

    async def run_ahead(self, works: Sequence[Work]) -> tuple[dict[int, WorkResult], float]:
        """Run works of one token each, the one their context has drawn last: results by context, and the seconds.

        A context whose last work failed has no result. Raises BatchFailedError.
        """
        return await self.call(lambda: self._run_ahead(works))

    def close(self) -> None:
        """End the thread once its current batch is done."""
        self._thread.shutdown(wait=True)
        self._model = None

    def _run(self, batch: Batch) -> tuple[list[WorkResult], float]:
        started = time.perf_counter()
        self._drawn = {}
        # Outside the guard: a copy that fails leaves pages with unknown content, which no caller can mend.
        if batch.copies:
            self.model.pool.copy_pages([(copy.source, copy.target, copy.rows) for copy in batch.copies])
        try:
            results = self._compute(batch.works)
        except (RuntimeError, ValueError, MemoryError) as error:
            raise BatchFailedError(
                f"forward: the batch failed on the device: {error}",
                hint="the contexts are as they were before it; try again with fewer or shorter inputs",
                cause=str(error),
            ) from error
        self._drawn = {
            work.context: drawn
            for work, result in zip(batch.works, results, strict=True)
            for drawn in last_drawn(result)
        }
        return results, time.perf_counter() - started

    def _run_ahead(self, works: Sequence[Work]) -> tuple[dict[int, WorkResult], float]:
        known = [replace(work, tokens=[self._drawn[work.context]]) for work in works if work.context in self._drawn]
        results, seconds = self._run(Batch(tuple(known))) if known else ([], 0.0)
        return dict(zip((work.context for work in known), results, strict=True)), seconds

    def _compute(self, works: Sequence[Work]) -> list[WorkResult]:
        step, reads = step_input(works)
        logits = self.model.forward(step)
        if not step.logit_rows:
            self.model.settle()
            return [[] for _ in works]
        reading = Reading(logits.astype(mx.float32), reads)
        self.model.settle(*reading.outputs)
        return reading.collect()
