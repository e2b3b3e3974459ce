"""The disk cache as restores use it: finds which pages and states of a context are there, and loads them."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing

from pie_mlx.engine.kv import PageRecord, Restore, Stored, StoredPage, StoredState
from pie_mlx.engine.model.networks.states import RecurrentState
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.paging.disk.disk_cache import DiskCache, Loaded
from pie_mlx.engine.paging.disk.reading import read_ahead
from pie_mlx.engine.paging.page_io import PageIO


class UnreadableError(Exception):
    """A page or a state is not as it was stored. The disk cache has forgotten it."""


class StoredKv:
    """Finds and loads what a restore would compute again."""

    def __init__(self, disk: DiskCache, page_io: PageIO, runner: Runner) -> None:
        self._disk, self._page_io, self._runner = disk, page_io, runner

    def find(self, user: str, records: Sequence[PageRecord]) -> Stored:
        """The pages among `records` that are only on disk, and the states on disk; nothing if computing them is faster
        than loading them."""
        disk, lasting = self._disk, [record for record in records if record.stored_for is not None]
        absent = (record for record in lasting if record.page is None and record.spill is None)
        pages = [record for record in absent if disk.holds(user, record.key)]
        if not pages or not disk.is_worthwhile(len(pages), sum(page.rows for page in pages)):
            return Stored()
        stateful = lasting if self._runner.model.recurrent else []
        states = frozenset(record.key for record in stateful if disk.holds_state(user, record.key))
        return Stored(frozenset(page.key for page in pages), states)

    async def load(
        self, user: str, work: Restore, is_wanted: Callable[[], bool], wake: Callable[[], None]
    ) -> RecurrentState | None:
        """Load the stored pages of a restore, for as long as they are wanted, and its stored state; None without one.

        Raises UnreadableError, once it has tried all of them.
        """
        state = None if work.stored_state is None else await self._state(user, work.stored_state)
        left: list[StoredPage] = list(work.stored)
        whole = work.stored_state is None or state is not None
        while left and is_wanted():
            done = 0
            async with aclosing(self._parts(user, left)) as parts:
                async for loaded in parts:
                    targets = [page.target for page in left[done : done + loaded.pages]]
                    filled = self._page_io.fill(targets, loaded.content, is_wanted)
                    wake()
                    if not await filled:
                        return None
                    done += loaded.pages
            whole = whole and done == len(left)
            left = [page for page in left[done + 1 :] if self._disk.holds(user, page.record.key)]
        if not whole:
            raise UnreadableError
        return state

    def _parts(self, user: str, pages: Sequence[StoredPage]) -> AsyncGenerator[Loaded]:
        return read_ahead(self._disk, user, [page.record for page in pages])

    async def _state(self, user: str, stored: StoredState) -> RecurrentState | None:
        host = await self._disk.load_state(user, stored.record)
        if host is None:
            return None
        return await self._runner.call(lambda: RecurrentState.from_host(host, stored.tokens))
