"""The disk cache as the engine uses it: what to write and to read, and the threads that do so."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from pie_mlx.engine.kv.pages.record import PageRecord
from pie_mlx.engine.kv.pages.values import Evicted
from pie_mlx.engine.paging.disk.batch_file import BATCH_BYTES, RECORDS, state_key
from pie_mlx.engine.paging.disk.batch_writer import BatchWriter, Written, state_name
from pie_mlx.engine.paging.disk.buffers import Buffers
from pie_mlx.engine.paging.disk.page_files import PageFiles
from pie_mlx.engine.paging.disk.stock import DiskStock
from pie_mlx.engine.paging.page_bytes import PageLayout, PageRows
from pie_mlx.engine.paging.prefill_rate import OLDER_WEIGHT, PrefillRate
from pie_mlx.engine.paging.spill.state_record import HostState, unpacked_state
from pie_mlx.events import DiskCacheChanged, Event, PagesDropped, PagesLoaded, PagesStored
from pie_mlx.metal.page_pool.pool import HostContent

T = TypeVar("T")

QUEUE_BYTES = 256 << 20
"""Most bytes that wait to be written."""
BATCH_SECONDS = 2.0
"""How long pages wait for others of their batch."""
PAUSE_SECONDS = 60.0
"""How long nothing is written after the disk refused."""
LATENCY_SECONDS = 2e-3
"""The part of a load's time that does not depend on its size: two threads and the next tick."""


@dataclass(slots=True)
class LoadRate:
    """Measured over the latest loads, the longer ones counting for more."""

    _bytes: float = 0.0
    _seconds: float = 0.0

    def observe(self, size_bytes: int, seconds: float) -> None:
        """Note what a load took."""
        self._bytes = OLDER_WEIGHT * self._bytes + size_bytes
        self._seconds = OLDER_WEIGHT * self._seconds + seconds

    def seconds_for(self, size_bytes: int) -> float:
        """0 before the first load."""
        return self._seconds * size_bytes / self._bytes if self._bytes else 0.0

    def fade(self) -> None:
        """A load was not worth it: what was measured counts for less, so that the disk gets another chance."""
        self._seconds *= OLDER_WEIGHT


class Loaded(NamedTuple):
    """Pages that were read, up to the first that was not what was stored."""

    pages: int
    content: HostContent


class Admitted(NamedTuple):
    """Pages to write now, and those for which there is no room yet."""

    chosen: list[Evicted]
    later: list[Evicted]


class _Waiting(NamedTuple):
    """The tokens and the bytes of a page that waits to be written."""

    tokens: bytes
    row: npt.NDArray[np.uint8]


class DiskCache:
    """Pages of a model that outlive the engine, by user and key.

    Lives on one event loop; files are read on one thread and written on another. Nothing waits for a write: what does
    not fit the day or the disk is computed again. Nothing is found or written until it is open. `on_written` is called
    when there may be room for more.
    """

    def __init__(
        self,
        layout: PageLayout,
        prefill: PrefillRate,
        emit: Callable[[Event], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.layout, self.prefill, self.loads, self.buffers = layout, prefill, LoadRate(), Buffers(layout)
        self.is_closing = False
        self.on_written: Callable[[], None] = lambda: None
        self._emit, self._clock = emit, clock
        self._files: PageFiles | None = None
        self._batches: BatchWriter | None = None
        self._queued: dict[tuple[str, bytes], _Waiting] = {}
        self._unpacked_bytes = self._waiting_bytes = 0
        self._paused_until = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._state = ""
        self._opening: asyncio.Task[None] | None = None
        self._reader = ThreadPoolExecutor(1, "pie-disk-read")
        self._writer = ThreadPoolExecutor(1, "pie-disk-write")

    def begin(self, find: Callable[[], PageFiles]) -> "asyncio.Task[None]":
        """Begin to open; `find` may block. A disk that refuses leaves the cache without pages."""
        self._opening = asyncio.create_task(self._open(find))
        return self._opening

    async def _open(self, find: Callable[[], PageFiles]) -> None:
        try:
            files = await self._on(self._reader, find)
            await self._on(self._reader, files.look)
        except OSError as error:
            self._tell("failed", f"{error}; pages are computed again")
            return
        self._files, self._batches = files, BatchWriter(files)
        self._tell("ready", str(files.directory.root))

    @property
    def stock(self) -> DiskStock | None:
        """What all models have on disk; None while the cache is not open."""
        return None if self._files is None else self._files.stock

    async def opened(self) -> None:
        """Wait until it is open, or the disk has refused."""
        if self._opening is not None:
            await self._opening

    # Reading.

    def holds(self, user: str, key: bytes) -> bool:
        """Whether a page of the user is on disk, or waits to be written."""
        return (user, key) in self._queued or (self._files is not None and self._files.holds(user, key))

    def holds_state(self, user: str, key: bytes) -> bool:
        """Whether the state after a page of the user is on disk."""
        return self.holds(user, state_key(key))

    async def run_of(self, user: str, pages: Iterator[PageRecord]) -> list[PageRecord]:
        """The leading pages that are on disk."""
        found: list[PageRecord] = []
        for page in pages:
            if not self.holds(user, page.key):
                if self._files is None or not self._files.is_look_due:
                    break
                await self._on(self._reader, self._files.look)
                if not self.holds(user, page.key):
                    break
            found.append(page)
        return found

    def is_worthwhile(self, pages: int, tokens: int) -> bool:
        """Whether to load pages rather than to compute their tokens."""
        rate = self.prefill.tokens_per_second
        if rate is None or LATENCY_SECONDS + self.loads.seconds_for(pages * self.layout.bytes) < tokens / rate:
            return True
        self.loads.fade()
        return False

    async def load(self, user: str, pages: Sequence[PageRecord], rows: PageRows) -> int:
        """Read pages into `rows`, up to the first damaged one; returns how many. Rows after these may have any
        content."""
        files = self._files
        if files is None:
            return 0

        names = [(page.key, page.packed) for page in pages]
        queued = [self._waiting_row(user, *name) for name in names]

        def read() -> tuple[int, float]:
            begun, count = self._clock(), 0
            while count < len(pages):
                if (waiting := queued[count]) is not None:
                    rows[count] = waiting
                    count += 1
                    continue
                end = next((place for place in range(count, len(pages)) if queued[place] is not None), len(pages))
                count += files.read_run(user, names[count:end], [memoryview(row) for row in rows[count:end]])
                if count < end:
                    break
            return count, self._clock() - begun

        loaded, seconds = await self._on(self._reader, read)
        if loaded:
            size = loaded * self.layout.bytes
            self.loads.observe(size, seconds)
            self._emit(PagesLoaded(loaded, size, seconds))
        return loaded

    def _waiting_row(self, user: str, key: bytes, tokens: bytes) -> npt.NDArray[np.uint8] | None:
        """The bytes of a page that waits to be written."""
        waiting = self._queued.get((user, key))
        return None if waiting is None or waiting.tokens != tokens else waiting.row

    async def load_state(self, user: str, page: PageRecord) -> HostState | None:
        """Read the state after the last token of a page."""
        files = self._files
        if files is None:
            return None

        def read() -> HostState | None:
            record = files.read(user, state_key(page.key), page.packed)
            state = None if record is None else unpacked_state(state_name(page.key, page.packed), bytes(record))
            if state is None:
                files.forget(user, state_key(page.key))
            return state

        return await self._on(self._reader, read)

    async def look(self) -> None:
        """Notice what other engines have written, at most once a second."""
        if self._files is not None:
            with contextlib.suppress(OSError):
                await self._on(self._reader, self._files.look)

    # Writing.

    @property
    def batch_pages(self) -> int:
        """Pages of a file."""
        return max(1, min(RECORDS, BATCH_BYTES // self.layout.bytes))

    @property
    def has_room(self) -> bool:
        """Whether one more page may wait to be written."""
        return _has_room(self._unpacked_bytes + self._waiting_bytes, self.layout.bytes)

    def admitted(self, pages: Iterable[Evicted], *, asked: bool = False) -> Admitted:
        """The pages that are worth a write: new ones, as far as the day has room. Of the others it is noted that they
        were used. Those that a program `asked` to write count as used twice."""
        files, found = self._files, Admitted([], [])
        if files is None:
            return found
        dropped = 0
        used: dict[str, list[bytes]] = {}
        size = self._unpacked_bytes + self._waiting_bytes
        for one in pages:
            record, user = one.record, one.record.stored_for or ""
            if files.holds(user, record.key) and (one.state is None or self.holds_state(user, record.key)):
                used.setdefault(user, []).append(record.key)
            elif (user, record.key) in self._queued:
                continue
            elif self._clock() < self._paused_until:
                dropped += 1
            elif files.directory.allows(size + self.layout.bytes, used_twice=asked or record.reused):
                more = self._size_of(one)
                (found.chosen if _has_room(size, more) else found.later).append(one)
                size += more
        self.note_dropped(dropped)
        for user, keys in used.items():
            self._writer.submit(files.use, user, keys)
        return found

    def _size_of(self, one: Evicted) -> int:
        return self.layout.bytes + (0 if one.state is None else one.state.size_bytes)

    def put(self, pages: Sequence[Evicted], rows: PageRows, states: Sequence[HostState | None]) -> None:
        """Have admitted pages written, with states after them. `rows` are the bytes of the pages."""
        if self._batches is None:
            return
        size = sum(map(self._size_of, pages))
        for one, row in zip(pages, rows, strict=True):
            self._queued[one.record.stored_for or "", one.record.key] = _Waiting(one.record.packed, row)
        self._unpacked_bytes += size
        adding = asyncio.get_running_loop().run_in_executor(self._writer, self._batches.add, pages, rows, states)

        def added(done: "asyncio.Future[Written]") -> None:
            self._unpacked_bytes -= size
            self._note(done.result())

        adding.add_done_callback(added)

    async def flush(self) -> None:
        """Write what waits; returns when it is on disk, or dropped."""
        if self._batches is not None:
            self._note(await self._on(self._writer, self._batches.flush))

    async def close(self) -> None:
        """Write what waits, and end the threads; once."""
        self.is_closing = True
        await self.opened()
        if self._timer is not None:
            self._timer.cancel()
        await self.flush()
        self._files = self._batches = None
        for thread in (self._reader, self._writer):
            await asyncio.to_thread(thread.shutdown)

    def _note(self, written: Written) -> None:
        for name in written.names:
            self._queued.pop(name, None)
        self._waiting_bytes = written.waiting_bytes
        if written.pages:
            self._emit(PagesStored(written.pages, written.size_bytes))
            self._tell("ready", f"{written.pages} pages written")
        self.note_dropped(len(written.names) - written.pages)
        if written.error is not None:
            self._paused_until = self._clock() + PAUSE_SECONDS
            self._tell("failed", f"{written.error}; nothing is written for {PAUSE_SECONDS:g} s")
        if written.waiting_bytes and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BATCH_SECONDS, self._flush_late)
        self.on_written()

    def note_dropped(self, pages: int) -> None:
        """Count pages that will be computed again, because the disk did not take them in time."""
        if pages:
            self._emit(PagesDropped(pages))

    def _flush_late(self) -> None:
        self._timer = None
        if self._batches is not None:
            flushing = asyncio.get_running_loop().run_in_executor(self._writer, self._batches.flush)
            flushing.add_done_callback(lambda done: self._note(done.result()))

    def _tell(self, state: Literal["ready", "failed"], text: str) -> None:
        if state != self._state:
            self._state = state
            self._emit(DiskCacheChanged(state, text))

    async def _on(self, thread: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(thread, work)


def _has_room(waiting_bytes: int, more_bytes: int) -> bool:
    """A page that is larger than the queue waits alone."""
    return not waiting_bytes or waiting_bytes + more_bytes <= QUEUE_BYTES
