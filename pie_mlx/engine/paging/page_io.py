"""Moves the contents of pages: copies within the pool, lost pages to the spill file or the disk cache, and back."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from pie_mlx.engine.kv import Evicted, KeptState, PageContent, PageCopy, PageRead, PageRecord, PageStore
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.paging.disk.disk_cache import DiskCache
from pie_mlx.engine.paging.evicted_pages import EvictedPages
from pie_mlx.engine.paging.prefill_rate import PREFILL_TOKENS, PrefillRate
from pie_mlx.engine.paging.spill import Spill
from pie_mlx.engine.paging.state_io import StateIO
from pie_mlx.events import Event, PagesSpilled
from pie_mlx.metal.page_pool.pool import HostContent

STOP_SECONDS = 3.0
"""How long a stop may write pages to the disk cache."""


class PageLoad(NamedTuple):
    """Spilled pages to read back, and a state if it is spilled. `done` gets the keys of pages that turned out to be
    damaged, and the state; None if there is none or it is damaged."""

    reads: tuple[PageRead, ...]
    state: KeptState | None
    is_wanted: Callable[[], bool]
    done: Callable[[frozenset[int], Any], None]


class _Lost(NamedTuple):
    contents: tuple[PageContent, ...]


class _Evicted(NamedTuple):
    pages: tuple[Evicted, ...]


class _Stored(NamedTuple):
    pages: tuple[Evicted, ...]
    done: "asyncio.Future[None]"


class _Filling(NamedTuple):
    pages: tuple[int, ...]
    content: HostContent
    is_wanted: Callable[[], bool]
    done: "asyncio.Future[bool]"


class _Discarded(NamedTuple):
    pages: tuple[int, ...]


def _as_evicted(record: PageRecord) -> Evicted | None:
    kept = record.checkpoint
    return None if record.page is None else Evicted(record.page, record, None if kept is None else kept.state)


class PageIO:
    """Keeps page moves in the order in which the page store made them, and carries them out before the next batch.

    The order is what keeps contents right: a page that was reclaimed must be read before the copy that reuses it and
    after the copy that filled it. `is_awaited` while some cannot wait for the next batch. `prefill` is the speed at
    which pages would be computed again.
    """

    def __init__(
        self,
        store: PageStore,
        runner: Runner,
        spill: Spill | None,
        emit: Callable[[Event], None],
        disk: DiskCache | None = None,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self._store, self._runner, self._spill, self._emit, self._disk = store, runner, spill, emit, disk
        self._evicted = None if disk is None else EvictedPages(disk, runner)
        store.pool.notes_evicted = disk is not None
        self._wake = wake
        if disk is not None:
            disk.on_written = self._go_on
        self._states = StateIO(store.pool.kept_states, runner, spill)
        self._moves: list[PageCopy | _Lost | _Evicted | _Stored | _Discarded | _Filling | PageLoad] = []
        self.is_awaited = False
        rates = [spill.costs.prefill] if spill is not None else [] if disk is None else [disk.prefill]
        self.prefill = rates[0] if rates else PrefillRate()

    def observe_prefill(
        self, counts: Sequence[int], seconds: float, plain_seconds: Callable[[int], float | None]
    ) -> None:
        """Learn how fast prompts are computed from a batch of contexts with `counts` tokens, if some are pieces of
        prompts. `plain_seconds` is what a batch with one token of each of so many contexts takes."""
        decodes = len([count for count in counts if count < PREFILL_TOKENS])
        if decodes < len(counts):
            plain = plain_seconds(decodes) if decodes else None
            self.prefill.observe(counts, seconds, plain or 0.0)

    def page_seconds(self, page_tokens: int) -> float:
        """Seconds to bring back a page whose content was lost, by reading or computing it, whichever is faster; 0 while
        unknown."""
        rate = self.prefill.tokens_per_second
        ways = [page_tokens / rate] if rate else []
        spilled = None if self._spill is None else self._spill.page_seconds
        return min(ways if spilled is None else [*ways, spilled], default=0.0)

    def copy(self, copies: Iterable[PageCopy]) -> None:
        """Queue copies. Call it right after the call to the store that made them."""
        self._note_lost()
        self._moves.extend(copies)

    def load(self, load: PageLoad) -> None:
        """Queue spilled pages."""
        self._note_lost()
        self._moves.append(load)
        self.is_awaited = True

    def fill(self, pages: Sequence[int], content: HostContent, is_wanted: Callable[[], bool]) -> "asyncio.Future[bool]":
        """Queue content for pages that a context holds. The result: whether it was still wanted, and is there."""
        self._note_lost()
        done = asyncio.get_running_loop().create_future()
        self._moves.append(_Filling(tuple(pages), content, is_wanted, done))
        self.is_awaited = True
        return done

    def store(self, pages: Sequence[Evicted]) -> "asyncio.Future[None]":
        """Queue pages that the disk cache admitted; done once it has their content."""
        self._note_lost()
        done = asyncio.get_running_loop().create_future()
        self._moves.append(_Stored(tuple(pages), done))
        self.is_awaited = True
        return done

    @property
    def returns_memory(self) -> bool:
        """Whether `discard` gives memory back."""
        return self._runner.model.pool.returns_memory

    def discard(self, pages: Iterable[int]) -> None:
        """Queue pages whose memory goes back to the system. Content that is still wanted is saved first."""
        self._note_lost()
        self._moves.append(_Discarded(tuple(pages)))
        self.is_awaited = True

    async def carry_out(self) -> tuple[PageCopy, ...]:
        """Do everything queued, except the last copies: returns these for the next batch."""
        if self._store.states.pages_each:
            await self._states.carry_out()
        self._note_lost()
        moves, self._moves = self._moves, []
        self.is_awaited = False
        copies: list[PageCopy] = []
        for move in moves:
            if isinstance(move, PageCopy):
                copies.append(move)
                continue
            await self._copy_now(copies)
            await self._carry_out(move)
        if self._evicted is not None:
            await self._evicted.go_on()
        if self._spill is not None:
            self._spill.release(self._store.images.pop_released())
            if self._store.states.pages_each:
                self._spill.release(self._states.pop_released())
        return tuple(copies)

    async def _carry_out(self, move: _Lost | _Evicted | _Stored | _Discarded | _Filling | PageLoad) -> None:
        match move:
            case _Lost():
                await self._save(move)
            case _Evicted(pages=evicted):
                if self._evicted is not None:
                    await self._evicted.add(evicted)
            case _Stored(pages=pages, done=done):
                if self._evicted is not None:
                    await self._evicted.store(pages)
                if not done.done():
                    done.set_result(None)
            case _Filling():
                await self._fill(move)
            case _Discarded(pages=pages):
                await self._runner.move_pages(lambda pool: pool.discard(pages))
            case PageLoad():
                await self._load(move)

    async def save(self, goes_on: Callable[[], bool]) -> None:
        """Write the pages in memory to the disk cache, as far as they are worth it, file by file while it `goes_on`."""
        if self._disk is None or self._evicted is None:
            return
        records, start = list(self._store.lasting_pages()), 0
        while start < len(records) and goes_on():
            batch = map(_as_evicted, records[start : start + self._disk.batch_pages])
            chosen, later = self._disk.admitted(one for one in batch if one is not None)
            await self._evicted.store(chosen)
            if chosen or later:
                await self._disk.flush()
            start += 0 if later else self._disk.batch_pages

    async def close(self, *, saves: bool = False) -> None:
        """Give the files back; with `saves`, pages in memory are written to the disk cache before."""
        if self._disk is not None and self._evicted is not None:
            if saves:
                await self._save_at_last(self._disk, self._evicted, time.monotonic() + STOP_SECONDS)
            await self._disk.close()
        if self._spill is not None:
            await self._spill.close()

    async def _save_at_last(self, disk: DiskCache, evicted: EvictedPages, until: float) -> None:
        await self.carry_out()
        await disk.flush()
        while evicted.can_go_on and time.monotonic() < until:
            await evicted.go_on()
            await disk.flush()
        await self.save(lambda: time.monotonic() < until)

    def _go_on(self) -> None:
        """The disk cache has written something."""
        if self._evicted is not None and self._evicted.can_go_on:
            self.is_awaited = True
            self._wake()

    def _note_lost(self) -> None:
        if self._spill is not None and (lost := self._store.pool.pop_lost()):
            self._moves.append(_Lost(lost))
        if self._disk is not None and (evicted := self._store.pool.pop_evicted()):
            self._moves.append(_Evicted(tuple(evicted)))

    async def _copy_now(self, copies: list[PageCopy]) -> None:
        if copies:
            rows = [(copy.source, copy.target, copy.rows) for copy in copies]
            copies.clear()
            await self._runner.copy_pages(rows)

    async def _save(self, lost: _Lost) -> None:
        """Write the pages that are worth it; the others are computed again when they are wanted."""
        spill = self._spill
        if spill is None:
            return
        wanted = [item for item in lost.contents if item.record.wanted and spill.is_worthwhile(item.rows)]
        slots = spill.take_slots(len(wanted))
        kept = wanted[: len(slots)]
        if not kept:
            return
        content = await self._runner.move_pages(lambda pool: pool.read_pages([item.page for item in kept]))
        await spill.write(slots, content)
        for item, slot in zip(kept, slots, strict=True):
            self._store.images.mark_spilled(item, slot)
        self._emit(PagesSpilled(len(kept), spill.stored_pages))

    async def _fill(self, filling: _Filling) -> None:
        if wanted := not filling.done.done() and filling.is_wanted():
            await self._runner.move_pages(lambda pool: pool.write_pages(filling.pages, filling.content))
        if not filling.done.done():
            filling.done.set_result(wanted)

    async def _load(self, load: PageLoad) -> None:
        spill = self._spill
        if spill is None or not load.is_wanted():
            return
        damaged: frozenset[int] = frozenset()
        if load.reads:
            loaded = await spill.read([read.key for read in load.reads])
            damaged, content = loaded.damaged, loaded.content
            if content is not None and load.is_wanted():
                targets = [read.target for read in load.reads]
                await self._runner.move_pages(lambda pool: pool.write_pages(targets, content))
        state = None if load.state is None else await self._states.load(load.state)
        if load.is_wanted():
            load.done(damaged, state)
