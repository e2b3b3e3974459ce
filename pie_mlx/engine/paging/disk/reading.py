"""Reads pages part by part, so that the first of them waits for no other."""

import asyncio
from collections.abc import AsyncGenerator, Sequence

from pie_mlx.engine.kv import PageRecord
from pie_mlx.engine.paging.disk.disk_cache import DiskCache, Loaded

PART_PAGES = 16
"""Pages that are written to the pool at once."""


async def read_ahead(disk: DiskCache, user: str, pages: Sequence[PageRecord]) -> AsyncGenerator[Loaded]:
    """Parts of pages, each read while the one before is written to the pool; ends before what cannot be read."""
    starts = range(0, len(pages), PART_PAGES)
    reading = asyncio.create_task(disk.load(user, pages[:PART_PAGES]))
    try:
        for start in starts:
            loaded = await reading
            end = start + PART_PAGES
            reading = asyncio.create_task(disk.load(user, pages[end : end + PART_PAGES]))
            if loaded.pages:
                yield loaded
            if loaded.pages < min(PART_PAGES, len(pages) - start):
                return
    finally:
        reading.cancel()
