"""Reads pages part by part, so that the first of them waits for no other."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from itertools import islice, takewhile

from pie_mlx.engine.kv import PageRecord
from pie_mlx.engine.paging.disk.disk_cache import DiskCache, Loaded

PART_BYTES = 4 << 20
"""Bytes read at once: small enough that the first part is there soon, large enough that there are few parts."""
PARTS = 4
"""Parts in memory: some are written to the pool while others are read. Each write costs a turn of the scheduler, so it
takes all parts that were read during the one before."""


async def read_ahead(disk: DiskCache, user: str, pages: Sequence[PageRecord]) -> AsyncGenerator[Loaded]:
    """Runs of pages, the next ones read while one is written to the pool; ends before what cannot be read.

    The content of a run is valid until the next one is asked for. To go on says that it is not used any more, also
    not by a thread.
    """
    size = max(1, PART_BYTES // disk.layout.bytes)
    parts = [pages[start : start + size] for start in range(0, len(pages), size)]
    rows = disk.buffers.take(size * PARTS)
    reading: deque[asyncio.Task[int]] = deque()

    def begin(numbers: range) -> None:
        for number in numbers:
            place, part = number % PARTS * size, parts[number]
            reading.append(asyncio.create_task(disk.load(user, part, rows[place : place + len(part)])))

    begin(range(min(PARTS, len(parts))))
    written = 0
    try:
        while reading:
            await reading[0]
            place = written % PARTS
            read = [part.result() for part in takewhile(_is_read, islice(reading, PARTS - place))]
            count = _leading(read, size)
            if count:
                yield Loaded(count, disk.layout.content(rows[place * size :][:count]))
            if count < sum(map(len, parts[written : written + len(read)])):
                return
            for _ in read:
                reading.popleft()
            begun, written = written + len(reading) + len(read), written + len(read)
            begin(range(begun, min(written + PARTS, len(parts))))
    finally:
        if all(part.done() for part in reading):
            disk.buffers.give_back(rows)
        for part in reading:  # a thread may still read into these rows, which are not used again
            part.cancel()


def _is_read(part: "asyncio.Task[int]") -> bool:
    return part.done()


def _leading(read: Sequence[int], size: int) -> int:
    """How many pages lie one after the other, of parts of `size`: they end in the first that is not full."""
    full = sum(1 for _ in takewhile(lambda count: count == size, read))
    return sum(read[: full + 1])
