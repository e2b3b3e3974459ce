"""Reads pages part by part, so that the first of them waits for no other."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Sequence

from pie_mlx.engine.kv import PageRecord
from pie_mlx.engine.paging.disk.disk_cache import DiskCache, Loaded

PART_BYTES = 4 << 20
"""What is written to the pool at once. The parts that are read take memory, and to touch new memory costs more than to
read into it."""
AHEAD = 2
"""Parts that are read while one is written to the pool: the thread that reads is then never idle."""


async def read_ahead(disk: DiskCache, user: str, pages: Sequence[PageRecord]) -> AsyncGenerator[Loaded]:
    """Parts of pages, the next ones read while one is written to the pool; ends before what cannot be read."""
    size = max(1, PART_BYTES // disk.layout.bytes)
    parts = [pages[start : start + size] for start in range(0, len(pages), size)]
    reading = deque(asyncio.create_task(disk.load(user, part)) for part in parts[:AHEAD])
    try:
        for place, part in enumerate(parts):
            loaded = await reading[0]
            reading.popleft()
            reading.extend(asyncio.create_task(disk.load(user, later)) for later in parts[place + AHEAD :][:1])
            if loaded.pages:
                yield loaded
            if loaded.pages < len(part):
                return
    finally:
        for task in reading:
            task.cancel()
