"""From the pool to the disk cache: pages that are kept, and pages that leave the pool."""

from collections.abc import Sequence
from typing import NamedTuple

from pie_mlx.engine.kv import Evicted
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.paging.disk.disk_cache import DiskCache


class _Waiting(NamedTuple):
    """A page that lies where it lay when the pool's clock stood at `changed`, unless that place has changed since."""

    page: Evicted
    changed: int


class EvictedPages:
    """Pages that left the pool faster than the disk takes them wait where they lie, in the pool's memory.

    Nothing waits for them: what is written there before there was room for them is dropped.
    """

    def __init__(self, disk: DiskCache, runner: Runner) -> None:
        self._disk, self._runner = disk, runner
        self._pool_kind = type(runner.model.pool)
        self._waiting: dict[int, _Waiting] = {}

    @property
    def can_go_on(self) -> bool:
        """Whether pages wait, and there is room for one."""
        return bool(self._waiting) and self._disk.has_room

    async def add(self, pages: Sequence[Evicted]) -> None:
        """Store pages that have just left the pool, the content still there, as far as there is room."""
        chosen, later = self._disk.admitted(pages)
        await self.store(chosen)
        if later:
            ids = [one.page for one in later]
            clocks = await self._runner.move_pages(lambda pool: pool.changed_at(ids))
            self._disk.note_dropped(len(self._waiting.keys() & ids))
            self._waiting |= {one.page: _Waiting(one, clock) for one, clock in zip(later, clocks, strict=True)}

    async def go_on(self) -> None:
        """Store pages that wait, as far as there is room, and forget those that are gone."""
        waiting, ids = self._waiting, list(self._waiting)
        if not ids:
            return
        clocks = await self._runner.move_pages(lambda pool: pool.changed_at(ids))
        whole = {page: waiting[page] for page, clock in zip(ids, clocks, strict=True) if clock == waiting[page].changed}
        self._disk.note_dropped(len(waiting) - len(whole))
        chosen, later = self._disk.admitted([one.page for one in whole.values()])
        self._waiting = {one.page: whole[one.page] for one in (*chosen, *later)}
        await self.store(chosen)  # a stop may cancel this, and goes on with all of them
        self._waiting = {one.page: whole[one.page] for one in later}

    async def store(self, pages: Sequence[Evicted]) -> None:
        """Read pages that the disk cache admitted, and have it write them, a file at a time.

        None once another kind of pool has replaced the first: that computes a little differently.
        """
        layout, size = self._disk.layout, self._disk.batch_pages
        if type(self._runner.model.pool) is not self._pool_kind:
            return
        for start in range(0, len(pages), size):
            batch = pages[start : start + size]
            rows = layout.rows(len(batch))
            content, ids = layout.content(rows), [one.page for one in batch]
            await self._runner.move_pages(lambda pool, ids=ids, content=content: pool.read_pages(ids, content))
            states = [None if one.state is None else await self._runner.call(one.state.to_host) for one in batch]
            self._disk.put(batch, rows, states)
