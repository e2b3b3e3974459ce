"""Pages are read part by part: what comes out is what was stored, in order."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest

from pie_mlx.engine.kv import PageRecord
from pie_mlx.engine.kv.pages.values import Evicted
from pie_mlx.engine.paging.disk import reading
from pie_mlx.engine.paging.disk.directory import CacheDirectory
from pie_mlx.engine.paging.disk.disk_cache import DiskCache
from pie_mlx.engine.paging.disk.page_files import PageFiles
from pie_mlx.engine.paging.disk.reading import PARTS, read_ahead
from pie_mlx.engine.paging.page_bytes import PageLayout
from pie_mlx.engine.paging.prefill_rate import PrefillRate

LAYOUT = PageLayout.of_content([(np.zeros((1, 2, 1, 4), np.float32), np.zeros((1, 2, 1, 4), np.float32))])
PAGES = 40
ROWS = np.random.default_rng(1).integers(0, 256, (PAGES, LAYOUT.bytes), np.uint8)
RECORDS = [PageRecord(bytes([number] * 16), b"tokens", 16, None, "ann") for number in range(PAGES)]


@pytest.fixture
async def disk(tmp_path: Path) -> AsyncGenerator[DiskCache]:
    def opened() -> PageFiles:
        directory = CacheDirectory(tmp_path / "kv", max_bytes=1 << 30, day_bytes=1 << 30)
        directory.open()
        return PageFiles(directory, "a model", "0" * 32)

    disk = DiskCache(LAYOUT, PrefillRate(), lambda event: None)
    await disk.begin(opened)
    yield disk
    await disk.close()


@pytest.mark.parametrize("missing", [0, 6, 7, PAGES - 1, PAGES])
@pytest.mark.parametrize("pages_of_a_part", [1, 3, 8])
async def test_all_pages_before_the_first_that_is_missing_come_in_order(
    disk: DiskCache, monkeypatch: pytest.MonkeyPatch, pages_of_a_part: int, missing: int
) -> None:
    monkeypatch.setattr(reading, "PART_BYTES", pages_of_a_part * LAYOUT.bytes)
    there = [number for number in range(PAGES) if number != missing]
    disk.put([Evicted(number, RECORDS[number], None) for number in there], ROWS[there], [None] * len(there))
    await disk.flush()
    for _ in range(2):  # the second time through the same memory
        expected = LAYOUT.content(ROWS)
        done = 0
        async with aclosing(read_ahead(disk, "ann", RECORDS)) as runs:
            async for loaded in runs:
                for pair, stored in zip(loaded.content, expected, strict=True):
                    for part, whole in zip(pair, stored, strict=True):
                        assert (part.view(np.uint8) == whole[done : done + loaded.pages].view(np.uint8)).all()
                assert loaded.pages <= PARTS * pages_of_a_part
                done += loaded.pages
        assert done == missing
