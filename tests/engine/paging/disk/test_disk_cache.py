"""What is read from a disk rather than computed again: whatever is faster."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

import numpy as np
import pytest

from pie_mlx.engine.kv import PageRecord
from pie_mlx.engine.kv.pages.values import Evicted
from pie_mlx.engine.paging.disk.directory import CacheDirectory
from pie_mlx.engine.paging.disk.disk_cache import LATENCY_SECONDS, DiskCache
from pie_mlx.engine.paging.disk.page_files import PageFiles
from pie_mlx.engine.paging.page_bytes import PageLayout
from pie_mlx.engine.paging.prefill_rate import PrefillRate

LAYOUT = PageLayout.of_content([(np.zeros((1, 16, 1, 64), np.float32), np.zeros((1, 16, 1, 64), np.float32))])
PAGES, PAGE_TOKENS, TOKENS_PER_SECOND = 8, 16, 1000.0
RECORDS = [PageRecord(bytes([number] * 16), b"tokens", PAGE_TOKENS, None, "ann") for number in range(PAGES)]
EVEN_BYTES_PER_SECOND = PAGES * LAYOUT.bytes / (PAGES * PAGE_TOKENS / TOKENS_PER_SECOND - LATENCY_SECONDS)
"""Of a disk that takes as long to read the pages as it takes to compute them."""


class SlowDisk(PageFiles):
    """Reads so many bytes in a second of a clock that only it moves."""

    bytes_per_second = 1.0
    now = 0.0

    def read_run(self, user: str, names: Sequence[tuple[bytes, bytes]], into: Sequence[memoryview]) -> int:
        self.now += sum(map(len, into)) / self.bytes_per_second
        return super().read_run(user, names, into)


@pytest.fixture
def files(tmp_path: Path) -> SlowDisk:
    directory = CacheDirectory(tmp_path / "kv", max_bytes=1 << 30, day_bytes=1 << 30)
    directory.open()
    return SlowDisk(directory, "a model", "0" * 32)


@pytest.fixture
async def disk(files: SlowDisk) -> AsyncGenerator[DiskCache]:
    """All pages are on it, and the model reads so many tokens in a second."""
    prefill = PrefillRate()
    prefill.observe([1000], 1000 / TOKENS_PER_SECOND)
    disk = DiskCache(LAYOUT, prefill, lambda event: None, clock=lambda: files.now)
    await disk.begin(lambda: files)
    rows = np.zeros((PAGES, LAYOUT.bytes), np.uint8)
    disk.put([Evicted(number, record, None) for number, record in enumerate(RECORDS)], rows, [None] * PAGES)
    await disk.flush()
    yield disk
    await disk.close()


async def read(disk: DiskCache) -> None:
    assert await disk.load("ann", RECORDS, LAYOUT.rows(PAGES)) == PAGES


@pytest.mark.parametrize("speed", [0.01, 0.9, 1.1, 100.0])
async def test_pages_are_read_from_a_disk_as_long_as_it_is_faster_than_the_model(
    disk: DiskCache, files: SlowDisk, speed: float
) -> None:
    files.bytes_per_second = speed * EVEN_BYTES_PER_SECOND
    assert disk.is_worthwhile(PAGES, PAGES * PAGE_TOKENS)  # nothing is known of it
    await read(disk)
    assert disk.is_worthwhile(PAGES, PAGES * PAGE_TOKENS) == (speed > 1)


async def test_a_disk_that_was_slow_is_tried_again_and_read_once_it_is_fast(disk: DiskCache, files: SlowDisk) -> None:
    files.bytes_per_second = EVEN_BYTES_PER_SECOND / 10
    await read(disk)
    files.bytes_per_second = EVEN_BYTES_PER_SECOND * 100
    asked = next(times for times in range(1000) if disk.is_worthwhile(PAGES, PAGES * PAGE_TOKENS))
    assert asked > 0
    for _ in range(5):
        await read(disk)
    assert disk.is_worthwhile(PAGES, PAGES * PAGE_TOKENS)
