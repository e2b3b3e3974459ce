"""The disk cache as the engine uses it: what to write and to read, and the threads that do so."""

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

from pie_mlx.engine.kv.pages.record import PageRecord
from pie_mlx.engine.kv.pages.values import Evicted
from pie_mlx.engine.paging.disk.batch_file import state_key
from pie_mlx.engine.paging.disk.batch_writer import BatchWriter, Written, state_name
from pie_mlx.engine.paging.disk.page_files import PageFiles
from pie_mlx.engine.paging.page_bytes import HostContent, PageLayout
from pie_mlx.engine.paging.prefill_rate import KEPT, PrefillRate
from pie_mlx.engine.paging.spill.state_record import HostState, unpacked_state
from pie_mlx.events import DiskCacheChanged, Event, PagesLoaded, PagesStored

T = TypeVar("T")

QUEUE_BYTES = 256 << 20
"""Most bytes that wait to be written; pages beyond it are dropped."""
BATCH_SECONDS = 2.0
"""How long pages wait for others of their batch."""
PAUSE_SECONDS = 60.0
"""How long nothing is written after the disk refused."""
LATENCY_SECONDS = 2e-3
"""What a load takes whatever its size: two threads and the next tick."""


@dataclass(slots=True)
class LoadRate:
    """Measured over the latest loads, the longer ones counting for more."""

    _bytes: float = 0.0
    _seconds: float = 0.0

    def observe(self, size_bytes: int, seconds: float) -> None:
        """A load took so long."""
        self._bytes = KEPT * self._bytes + size_bytes
        self._seconds = KEPT * self._seconds + seconds

    def seconds_for(self, size_bytes: int) -> float:
        """0 before the first load."""
        return self._seconds * size_bytes / self._bytes if self._bytes else 0.0

    def fade(self) -> None:
        """A load was not worth it: what was measured counts for less, so that the disk gets another chance."""
        self._seconds *= KEPT


class Loaded(NamedTuple):
    """Pages that were read, up to the first that was not what was stored."""

    pages: int
    content: HostContent


class DiskCache:
    """Pages of a model that outlive the engine, by user and key.

    Lives on one event loop; files are read on one thread and written on another. Nothing waits for a write: what does
    not fit the queue, the day or the disk is dropped, and computed again. Nothing is found or written until it is open.
    """

    def __init__(
        self,
        layout: PageLayout,
        prefill: PrefillRate,
        emit: Callable[[Event], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.layout, self.prefill, self.loads = layout, prefill, LoadRate()
        self.is_closing = False
        self._emit, self._clock = emit, clock
        self._files: PageFiles | None = None
        self._batches: BatchWriter | None = None
        self._queued: set[tuple[str, bytes]] = set()
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
        self._files, self._batches = files, BatchWriter(files, self.layout)
        self._tell("ready", str(files.directory.root))

    # Reading.

    def holds(self, user: str, key: bytes) -> bool:
        """Whether a page of the user is on disk."""
        return self._files is not None and self._files.holds(user, key)

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

    async def load(self, user: str, pages: Sequence[PageRecord]) -> Loaded:
        """Read pages, up to the first that is not what was stored."""
        files, begun = self._files, self._clock()
        if files is None:
            return Loaded(0, [])

        def read() -> Loaded:
            found: list[memoryview] = []
            for page in pages:
                content = files.read(user, page.key, page.packed)
                if content is None or len(content) != self.layout.bytes:
                    break
                found.append(content)
            return Loaded(len(found), self.layout.unpack(found) if found else [])

        loaded = await self._on(self._reader, read)
        if loaded.pages:
            size, seconds = loaded.pages * self.layout.bytes, self._clock() - begun
            self.loads.observe(size, seconds)
            self._emit(PagesLoaded(loaded.pages, size, seconds))
        return loaded

    async def load_state(self, user: str, page: PageRecord) -> HostState | None:
        """Read the state after the last token of a page."""
        files = self._files
        if files is None:
            return None

        def read() -> HostState | None:
            record = files.read(user, state_key(page.key), page.packed)
            return None if record is None else unpacked_state(state_name(page.key, page.packed), bytes(record))

        return await self._on(self._reader, read)

    # Writing.

    def admitted(self, pages: Iterable[Evicted]) -> list[Evicted]:
        """The pages that are worth a write: new ones, as far as queue and day have room. Of the others it is noted that
        they were used."""
        files = self._files
        if files is None:
            return []
        chosen: list[Evicted] = []
        used: dict[str, list[bytes]] = {}
        size = self._unpacked_bytes + self._waiting_bytes
        for one in pages:
            record, user = one.record, one.record.stored_for or ""
            if files.holds(user, record.key) and (one.state is None or self.holds_state(user, record.key)):
                used.setdefault(user, []).append(record.key)
            elif (user, record.key) not in self._queued and self._has_room(files, size, used_twice=record.reused):
                chosen.append(one)
                size += self.layout.bytes
        for user, keys in used.items():
            self._writer.submit(files.use, user, keys)
        return chosen

    def _has_room(self, files: PageFiles, queued_bytes: int, *, used_twice: bool) -> bool:
        size = queued_bytes + self.layout.bytes
        is_refused = size > QUEUE_BYTES or self._clock() < self._paused_until
        return not is_refused and files.directory.allows(size, used_twice=used_twice)

    def put(self, pages: Sequence[Evicted], content: HostContent, states: Sequence[HostState | None]) -> None:
        """Have admitted pages written, with states after them. `content` as it was read from the pool."""
        if self._batches is None:
            return
        size = len(pages) * self.layout.bytes
        self._queued.update((one.record.stored_for or "", one.record.key) for one in pages)
        self._unpacked_bytes += size
        adding = asyncio.get_running_loop().run_in_executor(self._writer, self._batches.add, pages, content, states)

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
        if self._opening is not None:
            await self._opening
        if self._timer is not None:
            self._timer.cancel()
        await self.flush()
        self._files = self._batches = None
        for thread in (self._reader, self._writer):
            await asyncio.to_thread(thread.shutdown)

    def _note(self, written: Written) -> None:
        self._queued.difference_update(written.names)
        self._waiting_bytes = written.waiting_bytes
        if written.pages:
            self._emit(PagesStored(written.pages, written.size_bytes))
            self._tell("ready", f"{written.pages} pages written")
        if written.error is not None:
            self._paused_until = self._clock() + PAUSE_SECONDS
            self._tell("failed", f"{written.error}; nothing is written for {PAUSE_SECONDS:g} s")
        if written.waiting_bytes and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(BATCH_SECONDS, self._flush_late)

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
