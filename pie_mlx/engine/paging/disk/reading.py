"""Reads pages part by part, so that the first of them waits for no other."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from typing import NamedTuple

from pie_mlx.engine.kv import PageRecord
from pie_mlx.engine.paging.disk.disk_cache import DiskCache, Loaded
from pie_mlx.engine.paging.page_bytes import PageRows

PART_BYTES = 4 << 20
"""What is written to the pool at once: each part costs a turn of the scheduler, larger ones leave the processor's cache
before they are written."""
AHEAD = 2
"""Parts that are read while one is written to the pool: the thread that reads is then never idle."""


class _Reading(NamedTuple):
    rows: PageRows
    loaded: "asyncio.Task[Loaded]"


async def read_ahead(disk: DiskCache, user: str, pages: Sequence[PageRecord]) -> AsyncGenerator[Loaded]:
    """Parts of pages, the next ones read while one is written to the pool; ends before what cannot be read.

    The content of a part is valid until the next one is asked for. To go on says that it is not used any more, also
    not by a thread.
    """
    size = max(1, PART_BYTES // disk.layout.bytes)
    parts = [pages[start : start + size] for start in range(0, len(pages), size)]

    def begin(part: Sequence[PageRecord]) -> _Reading:
        rows = disk.buffers.take(size)
        return _Reading(rows, asyncio.create_task(disk.load(user, part, rows[: len(part)])))

    reading = deque(map(begin, parts[:AHEAD]))
    try:
        for place, part in enumerate(parts):
            reading.extend(map(begin, parts[place + AHEAD :][:1]))
            loaded = await reading[0].loaded
            rows, _ = reading.popleft()
            if loaded.pages:
                yield loaded
            disk.buffers.give_back(rows)
            if loaded.pages < len(part):
                return
    finally:
        for one in reading:  # a thread may still read into its rows, which are not used again
            one.loaded.cancel()
