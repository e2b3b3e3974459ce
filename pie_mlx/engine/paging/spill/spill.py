"""The spill as the tick loop uses it: slots, a thread for the file, and what happens when the disk fails."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Literal, NamedTuple

from pie_mlx.engine.paging.spill.costs import SpillCosts, measure_costs
from pie_mlx.engine.paging.spill.disk import Disk, open_disk
from pie_mlx.engine.paging.spill.file import LoadedPages, SpillFile
from pie_mlx.metal.page_pool.pool import HostContent


class SpillNotice(NamedTuple):
    """The spill begins or ends to work as asked.

    `ready`; `full`: pages that do not fit are computed again; `failed`: nothing more is written; `damaged`: pages did
    not read back and are computed again.
    """

    state: Literal["ready", "full", "failed", "damaged"]
    text: str


class Spill:
    """Stores page contents under slot numbers.

    Lives on one event loop; the file is used on a thread of its own, in the order of the calls. Losing the disk loses
    nothing: slots it held read as damaged, and no more are handed out.
    """

    def __init__(
        self, disk: Disk, costs: SpillCosts, *, page_bytes: int, max_bytes: int, notify: Callable[[SpillNotice], None]
    ) -> None:
        self.costs = costs
        self._file = SpillFile(disk)
        self._page_bytes, self._notify = page_bytes, notify
        self._capacity = max_bytes // max(page_bytes, 1)
        self._unused: list[int] = []
        self._next_slot = 0
        self._full = self._failed = False
        self._writing: asyncio.Future[None] | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="pie-spill")

    @property
    def stored_pages(self) -> int:
        """Slots that hold a page which may be wanted."""
        return self._next_slot - len(self._unused)

    def is_worthwhile(self, tokens: int) -> bool:
        """Whether to write a page that holds `tokens` tokens rather than compute it again (R3)."""
        return not self._failed and self.costs.is_cheaper(self._page_bytes, tokens)

    @property
    def page_seconds(self) -> float | None:
        """What it costs to write a page and to read it back (R3); None once the disk failed."""
        return None if self._failed else self.costs.spill_seconds(self._page_bytes)

    def take_slots(self, pages: int) -> list[int]:
        """Slots for up to `pages` pages; fewer when the file is full, none once it failed."""
        if self._failed:
            return []
        fresh = min(max(pages - len(self._unused), 0), self._capacity - self._next_slot)
        self._unused += range(self._next_slot, self._next_slot + fresh)
        self._next_slot += fresh
        taken = [self._unused.pop() for _ in range(min(pages, len(self._unused)))]
        if len(taken) < pages:
            self._note_full()
        return taken

    async def write(self, slots: Sequence[int], content: HostContent) -> None:
        """Begin to store page i of `content` in `slots[i]`, once the write before it is done."""
        await self._begin(partial(self._file.write, slots, content))

    def take_record_slots(self, size_bytes: int, tokens: int) -> list[int]:
        """Slots for a record that saves computing `tokens` tokens; none if there is no room, or that is faster (R3)."""
        if self._failed or not self._page_bytes or not self.costs.is_cheaper(size_bytes, tokens):
            return []
        pages = -(-size_bytes // self._page_bytes)
        taken = self.take_slots(pages)
        if len(taken) < pages:
            self.release(taken)
            return []
        return taken

    async def write_record(self, slots: Sequence[int], record: bytes) -> None:
        """Begin to store a record in its slots, once the write before it is done."""
        await self._begin(partial(self._file.write_record, slots, record, self._page_bytes))

    async def read_record(self, slots: Sequence[int]) -> bytes:
        """What lies in the slots of a record; waits for writes that began before."""
        read = partial(self._file.read_record, slots, self._page_bytes)
        return await asyncio.get_running_loop().run_in_executor(self._thread, read)

    async def _begin(self, write: Callable[[], None]) -> None:
        if self._writing is not None:
            await asyncio.wait([self._writing])
        self._writing = asyncio.get_running_loop().run_in_executor(self._thread, write)
        self._writing.add_done_callback(self._written)

    async def read(self, slots: Sequence[int]) -> LoadedPages:
        """The pages of `slots`; waits for writes that began before."""
        loaded = await asyncio.get_running_loop().run_in_executor(self._thread, self._file.read, slots)
        if loaded.damaged:
            self.note_damaged(f"{len(loaded.damaged)} spilled pages")
        return loaded

    def note_damaged(self, what: str) -> None:
        """Something does not read back as it was written."""
        self._notify(SpillNotice("damaged", f"{what} did not read back; they are computed again"))

    def release(self, slots: Collection[int]) -> None:
        """`slots` are free again."""
        self._unused += slots
        if 2 * self.stored_pages < self._capacity:
            self._full = False

    async def close(self) -> None:
        """Finish what is under way and give the file back; once."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._file.close)
        await asyncio.to_thread(self._thread.shutdown)

    def _written(self, write: "asyncio.Future[None]") -> None:
        error = None if write.cancelled() else write.exception()
        if error is not None and not self._failed:
            self._failed = True
            self._notify(SpillNotice("failed", f"{error}; pages that fall out of the pool are computed again"))

    def _note_full(self) -> None:
        """Told once, and again only after half of it had been given back."""
        if not self._full:
            size = self._capacity * self._page_bytes
            self._notify(SpillNotice("full", f"{size:,} bytes are in use; further pages are computed again"))
        self._full = True


async def open_spill(
    directory: str | None, *, page_bytes: int, max_bytes: int, notify: Callable[[SpillNotice], None]
) -> Spill | None:
    """A spill in `directory`, its bandwidth measured; None when there is to be none, or when the disk refuses."""
    if directory is None or max_bytes < max(page_bytes, 1):
        return None
    try:
        disk, costs = await asyncio.to_thread(_open_measured, directory)
    except OSError as error:
        notify(SpillNotice("failed", f"{error}; pages that fall out of the pool are computed again"))
        return None
    notify(SpillNotice("ready", _rates(costs)))
    return Spill(disk, costs, page_bytes=page_bytes, max_bytes=max_bytes, notify=notify)


def _open_measured(directory: str) -> tuple[Disk, SpillCosts]:
    disk = open_disk(directory)
    try:
        return disk, measure_costs(disk)
    except BaseException:
        disk.close()
        raise


def _rates(costs: SpillCosts) -> str:
    mebi = 1 << 20
    write, read = costs.write_bytes_per_second / mebi, costs.read_bytes_per_second / mebi
    return f"writes {write:,.0f} MiB/s, reads {read:,.0f} MiB/s"
