"""Computes what streams will ask for next, while their programs still look at what they got."""

import dataclasses
from collections.abc import Sequence

from msgspec.structs import replace

from pie_mlx.calls import Sampler
from pie_mlx.engine.model.batch import Outcome, RowRead, Work, is_argmax, last_drawn
from pie_mlx.engine.model.runner import Runner
from pie_mlx.engine.passes import Pass
from pie_mlx.engine.tick_state import TickState

Chunks = Sequence[tuple[Pass, int]]
"""Passes of a batch, each with how many of its inputs run."""

UNKNOWN = (0,)
"""In place of a token that is still being drawn."""


class RunAhead:
    """The batch after the one that runs, made of the streams that will most likely just go on.

    It is built while its predecessor is computed, on tokens that are not drawn yet, and begins right behind it, with
    the draws and probes of before where that pays. Rows whose program goes on with the token it drew are read as it
    wants, whatever sampler, mask or probe it asks for. All others are dropped: what they wrote lies in slots beyond
    what their context holds, which are overwritten before anybody reads them, because everything that touches pages
    runs on one thread in order. It lives until the next batch is decided on.
    """

    def __init__(self, state: TickState, runner: Runner, *, enabled: bool) -> None:
        self._state, self._runner, self._enabled = state, runner, enabled
        self._running: frozenset[int] = frozenset()

    @property
    def is_better(self) -> bool:
        """Whether a step is built on tokens that are still being drawn, so that the device need not wait for it."""
        return self._enabled and self._runner.model.follows and self._runner.model.pool.ordered

    def with_tails(self, chunks: Chunks, works: Sequence[Work]) -> tuple[Work, ...]:
        """`works`, which steps follow at once, with slots for one that runs ahead behind those; none where it may not,
        or there are not enough pages."""
        self._begin()
        if not self._enabled or not self._runner.model.follows or not all(_goes_on(item) for item, _ in chunks):
            return ()
        found = [self._with_tail(work) for work in works]
        return tuple(work for work in found if work is not None) if None not in found else ()

    def _with_tail(self, work: Work) -> Work | None:
        place = self._place(work.context, work.kv_length + len(work.further_slots))
        if place is None:
            return None
        slot, table = place
        return replace(work, block_table=table, further_slots=[*work.further_slots, slot])

    def _place(self, context: int, length: int) -> tuple[int, Sequence[int]] | None:
        """The slot of the token behind `length` others, and the block table then; None where that cannot be told."""
        store = self._state.store
        table = store.table_for(context, length + 1)
        if table is None:
            return None
        page, offset = divmod(length, store.page_size)
        return table[page] * store.page_size + offset, table

    def _begin(self) -> None:
        """Nothing is foreseen of the next batch so far."""
        self._state.foreseen.clear()
        self._state.store.take_displaced()

    def successors(self, chunks: Chunks, works: Sequence[Work]) -> list[Work]:
        """What to run behind `works`, which are about to be given to the runner.

        Nothing while anybody else waits, or will want the next batch for the rest of a prompt: a batch that holds
        everybody is worth more than one that is early.
        """
        state = self._state
        self._begin()
        if not self._enabled or state.requests or state.restorations or len(state.passes) > len(works):
            return []
        if not self._runner.model.follows or any(count < item.remaining for item, count in chunks):
            return []
        for (item, count), work in zip(chunks, works, strict=True):
            if count == item.remaining and (row := self._successor(item, work)) is not None:
                state.foreseen[work.context] = row
        return [row for row in state.foreseen.values() if state.contexts[row.context].streaming]

    def learn(self, works: Sequence[Work], outcome: Outcome) -> None:
        """The predecessors are computed: which tokens they drew, and whose next one is being computed."""
        foreseen = self._state.foreseen
        foreseen.update((work.context, work) for work in outcome.tail)
        self._running = outcome.followed
        for work, result in zip(works, outcome.results, strict=True):
            if work.context in foreseen:
                foreseen[work.context] = replace(foreseen[work.context], tokens=last_drawn(result))

    def claim(self, works: Sequence[Work]) -> list[bool]:
        """Decides the next batch: which of `works` are being computed already. What is not claimed now is dropped."""
        running, self._running = self._running - self._state.store.take_displaced(), frozenset[int]()
        if not self._state.foreseen:
            return []
        goes_on = [self._is_foreseen(work) for work in works]
        return [found and work.context in running for found, work in zip(goes_on, works, strict=True)]

    def _is_foreseen(self, work: Work) -> bool:
        """Whether `work` is what was foreseen. Notes what it says about the next one."""
        row, context = self._state.foreseen.get(work.context), self._state.contexts[work.context]
        if row is None:
            return False
        was_streaming, context.streaming = context.streaming, _is_same(row, work)
        return was_streaming and context.streaming

    def _successor(self, item: Pass, work: Work) -> Work | None:
        """The row that goes on with what `work` draws; None where that cannot be told."""
        if not item.commits or item.replay or item.drafts or not _draws_next(item, work):
            return None
        place = self._place(work.context, work.kv_length)
        if place is None:
            return None
        slot, table = place
        return Work(
            context=work.context,
            tokens=UNKNOWN,
            positions=[work.positions[-1] + 1],
            slots=[slot],
            block_table=table,
            kv_length=work.kv_length + 1,
            reads=self._next_reads(work),
            adapters=None if work.adapters is None else [work.adapters[-1]],
        )

    def _next_reads(self, work: Work) -> tuple[RowRead, ...]:
        """What the next pass reads if its program changes nothing; empty where it is better drawn when that is sure.

        On a CPU whatever takes time is computed while the step behind it is built, which takes as long.
        """
        last = len(work.tokens) - 1
        if any(read.index != last or read.mask is not None for read in work.reads):
            return ()
        at_once = self._runner.model.pool.ordered or all(map(is_argmax, work.reads))
        return tuple(map(_next_read, work.reads)) if at_once else ()


def _goes_on(item: Pass) -> bool:
    """Whether its program will most likely ask for more than follows the pass at once."""
    return item.context.streaming and item.course is not None and not item.course.ends_text


def _draws_next(item: Pass, work: Work) -> bool:
    """Whether one token is drawn in the pass, from its last input."""
    drawn = [(read.index, read.read.draws) for read in work.reads if isinstance(read.read, Sampler)]
    drawing = sum(isinstance(read.read, Sampler) for read in item.reads)
    return drawing == 1 and drawn == [(len(work.tokens) - 1, 1)]


def _next_read(read: RowRead) -> RowRead:
    return dataclasses.replace(read, index=0, counter=read.counter + isinstance(read.read, Sampler))


def _is_same(row: Work, work: Work) -> bool:
    """Whether `work` is what was foreseen. Where its committed pages lie does not matter: their content is the same."""
    return (
        list(work.tokens) == list(row.tokens)
        and list(work.positions) == list(row.positions)
        and list(work.slots) == list(row.slots)
        and work.kv_length == row.kv_length
        and work.masks is None
        and work.adapters == row.adapters
    )
