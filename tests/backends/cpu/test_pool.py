"""The pages in the memory of the host."""

# ruff: noqa: F401

import mmap
import sys
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.backends.cpu.pool import CpuPool
from pie_mlx.backends.cpu.storage import HeadMajor
from pie_mlx.metal import KvPool, LayerShape
from tests.metal.page_pool.test_pool import (
    test_a_span_is_the_same_slots_without_a_gather,
    test_copies_happen_in_order,
    test_gathered_pages_hold_what_was_written,
    test_pages_are_read_into_the_memory_of_the_reader,
    test_pages_come_back_from_the_host,
    test_quantised_pages_hold_the_words_of_the_reference,
    test_writes_leave_every_array_where_it_is,
    ways_to_the_host,
)


@pytest.fixture(scope="session")
def kind() -> type[KvPool]:
    """What is true of every pool is true of this one."""
    return CpuPool


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pool keeps its memory")
def test_discarded_pages_go_back_to_the_system_and_others_keep_their_content() -> None:
    pool = CpuPool([LayerShape(2, 64, 64)] * 2, pages=2048, page_size=16, dtype=mx.float32)
    content = [(np.ones((1, 16, 2, 64), np.float32), np.full((1, 16, 2, 64), 2.0, np.float32))] * 2
    for page in (0, 99, 1500, 2047):
        pool.write_pages([page], content)
    before = resident_bytes()
    given = pool.discard([page for page in range(2048) if page not in (0, 99, 2047)])
    assert given > 0.99 * pool.bytes() * 2045 / 2048
    assert before - resident_bytes() > 0.9 * given
    for page, expected in ((0, 1.0), (99, 1.0), (1500, 0.0), (2047, 1.0)):
        assert (pool.read_pages([page])[1][0] == expected).all()
    pool.write_pages([1500], content)
    assert (pool.read_pages([1500])[0][1] == 2.0).all()


def test_nothing_is_discarded_where_no_page_is_free() -> None:
    assert CpuPool([LayerShape(1, 8, 8)], pages=4, page_size=16, dtype=mx.float32).discard([]) == 0


def test_what_is_discarded_are_the_slots_of_those_pages() -> None:
    storage = HeadMajor()
    array = storage.empty(8, 3, 5, mx.float16)
    storage.put(array, mx.ones((2, 3, 5), mx.float16), mx.array([3, 4]))
    mx.eval(array)
    found = np.array(array).reshape(-1).view(np.uint8)
    for start, stop in storage.spans(array, 3, 5):
        found[start:stop] = 0
    assert not found.any()
