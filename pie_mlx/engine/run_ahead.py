"""Computes what streams will ask for next, while their programs still look at what they got."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from pie_mlx.calls import Sampler
from pie_mlx.engine.model.batch import RowRead, Work, WorkResult, last_drawn
from pie_mlx.engine.model.runner import Runner
from pie_mlx.engine.passes import Pass
from pie_mlx.engine.tick_state import TickState

Chunks = Sequence[tuple[Pass, int]]
"""Passes of a batch, each with how many of its inputs run."""

Answer = tuple[dict[int, WorkResult], float]
"""Results by context, and the seconds they took."""


class Claim(NamedTuple):
    """Works of a batch that are `mine`, being computed, and the `answer` with their results."""

    mine: list[bool]
    answer: asyncio.Task[Answer]


class RunAhead:
    """The batch after the one that runs, made of the streams that will most likely just go on.

    It runs right behind its predecessor on the MLX thread, which so need not wait for the engine and for programs.
    Rows whose program asks for exactly what was computed are answered from it. All others are dropped: what they wrote
    lies in slots beyond what their context holds, which are overwritten before anybody reads them, because everything
    that touches pages runs on that thread in order. It lives until the next batch is decided on.
    """

    def __init__(self, state: TickState, runner: Runner, *, enabled: bool) -> None:
        self._state, self._runner, self._enabled = state, runner, enabled
        self._task: asyncio.Task[Answer] | None = None

    def begin(self, chunks: Chunks, works: Sequence[Work]) -> None:
        """Run the successors of `works` after them; call it when `works` have just been given to the runner.

        Not while anybody else waits: a batch that holds everybody is worth more than one that is early.
        """
        state = self._state
        state.foreseen.clear()
        if not self._enabled or state.requests or state.restorations or len(state.passes) > len(works):
            return
        if self._runner.model.recurrent:  # a running state cannot take back a token
            return
        for (item, count), work in zip(chunks, works, strict=True):
            if count == item.remaining and (row := self._successor(item, work)) is not None:
                state.foreseen[work.context] = row
        rows = [row for row in state.foreseen.values() if state.contexts[row.context].streaming]
        if rows:
            self._task = asyncio.create_task(self._runner.run_ahead(rows))

    def learn(self, works: Sequence[Work], results: Sequence[WorkResult]) -> None:
        """The predecessors are computed: which tokens they drew."""
        foreseen = self._state.foreseen
        for work, result in zip(works, results, strict=True):
            if work.context in foreseen:
                foreseen[work.context] = replace(foreseen[work.context], tokens=last_drawn(result))

    def claim(self, works: Sequence[Work]) -> "Claim | None":
        """Decides the next batch: which of `works` are being computed already. What is not claimed now is dropped."""
        task, self._task = self._task, None
        if task is not None:
            task.add_done_callback(_look_at)
        if not self._state.foreseen:
            return None
        mine = [self._is_foreseen(work) for work in works]
        return Claim(mine, task) if task is not None and any(mine) else None

    def _is_foreseen(self, work: Work) -> bool:
        """Whether `work` is in the batch that runs ahead. Notes what it says about the next one."""
        row, context = self._state.foreseen.get(work.context), self._state.contexts[work.context]
        if row is None:
            return False
        was_streaming, context.streaming = context.streaming, _is_same(row, work)
        return was_streaming and context.streaming

    def _successor(self, item: Pass, work: Work) -> Work | None:
        """The row that goes on with what `work` draws; None where that cannot be told."""
        if not item.commits or item.replay or item.context.leaving or item.drafts:
            return None
        reads = _successor_reads(item, work)
        table = self._state.store.table_for(work.context, work.kv_length + 1) if reads else None
        if table is None:
            return None
        page, offset = divmod(work.kv_length, self._state.store.page_size)
        return Work(
            context=work.context,
            tokens=(),
            positions=[work.positions[-1] + 1],
            slots=[table[page] * self._state.store.page_size + offset],
            block_table=table,
            kv_length=work.kv_length + 1,
            reads=reads,
            adapters=None if work.adapters is None else [work.adapters[-1]],
        )


def _successor_reads(item: Pass, work: Work) -> tuple[RowRead, ...]:
    """What was read from the last token of a pass, read from the next; nothing unless one token is drawn there."""
    last = len(work.tokens) - 1
    reads = [read for read in work.reads if read.index == last]
    drawing = [read.read for read in item.reads if isinstance(read.read, Sampler)]
    drawn = [read.read for read in reads if isinstance(read.read, Sampler)]
    if len(drawing) != 1 or drawing != drawn or drawing[0].draws != 1 or any(read.mask is not None for read in reads):
        return ()
    return tuple(
        RowRead(0, read.read, read.stream, read.counter + 1 if isinstance(read.read, Sampler) else 0) for read in reads
    )


def _is_same(row: Work, work: Work) -> bool:
    """Whether `work` is what was foreseen. Where its committed pages lie does not matter: their content is the same."""
    return (
        list(work.tokens) == list(row.tokens)
        and list(work.positions) == list(row.positions)
        and list(work.slots) == list(row.slots)
        and work.kv_length == row.kv_length
        and work.masks is None
        and work.adapters == row.adapters
        and all(read.mask is None for read in work.reads)
        and work.reads == row.reads
    )


def _look_at(task: "asyncio.Task[Answer]") -> None:
    """A batch nobody wants may fail without a word."""
    if not task.cancelled():
        task.exception()
