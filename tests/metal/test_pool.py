"""The memory of the pages."""

import mmap
import sys
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.errors import OutOfPagesError
from pie_mlx.metal import KvPool, LayerShape, SlotWrite, arrays, pages_for_budget
from pie_mlx.metal.storage import HeadMajor, SlotMajor, Storage
from tests.addresses import addresses

SHAPES = [LayerShape(2, 8, 4), LayerShape(1, 4, 4)]
PAGES, PAGE_SIZE = 6, 4
STORAGES = [HeadMajor(), SlotMajor()]


def filled_pool(storage: Storage, dtype: mx.Dtype = mx.float32) -> KvPool:
    """A pool whose slots hold distinct small integers."""
    pool = KvPool(SHAPES, pages=PAGES, page_size=PAGE_SIZE, dtype=dtype, storage=storage)
    slots = PAGES * PAGE_SIZE
    for layer, shape in enumerate(SHAPES):
        rows = mx.array([*range(1, slots), 0])[:, None, None]
        keys = mx.broadcast_to(rows + 100 * layer, (slots, shape.kv_heads, shape.key_dim))
        pool.write(layer, keys, keys[:, :, : shape.value_dim] * 2, SlotWrite([*range(1, slots), 0]))
    mx.eval(pool.arrays())
    return pool


def first_keys(pool: KvPool) -> list[int]:
    """What tells slots of layer 0 apart."""
    return np.array(pool.rows(0, mx.arange(PAGES * PAGE_SIZE))[0][:, 0, 0].astype(mx.int32)).tolist()


@pytest.mark.parametrize("storage", STORAGES)
def test_gathered_pages_hold_what_was_written(storage: Storage) -> None:
    keys, values = filled_pool(storage).gather(1, mx.array([[3, 0], [5, 5]], dtype=mx.int32))
    assert keys.shape == (2, 1, 8, 4)
    assert np.array(keys[:, 0, :, 0]).tolist() == [[112, 113, 114, 115, 100, 101, 102, 103], [120, 121, 122, 123] * 2]
    assert np.array(values[0, 0, :, 0]).tolist() == [224, 226, 228, 230, 200, 202, 204, 206]


@pytest.mark.parametrize("storage", STORAGES)
def test_a_span_is_the_same_slots_without_a_gather(storage: Storage) -> None:
    pool = filled_pool(storage)
    spanned = pool.span(0, 4, 12)
    gathered = pool.gather(0, mx.array([[1, 2]], dtype=mx.int32))
    assert all(mx.array_equal(a, b) for a, b in zip(spanned, gathered, strict=True))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 4)), max_size=8))
def test_copies_happen_in_order(copies: list[tuple[int, int, int]]) -> None:  # P13
    pool = filled_pool(HeadMajor())
    expected = list(range(PAGES * PAGE_SIZE))
    for source, target, rows in copies:
        taken = expected[source * PAGE_SIZE : source * PAGE_SIZE + rows]
        expected[target * PAGE_SIZE : target * PAGE_SIZE + rows] = taken
    pool.copy_pages(copies)
    assert first_keys(pool) == expected


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
@pytest.mark.parametrize("storage", STORAGES)
def test_pages_come_back_from_the_host(storage: Storage, dtype: mx.Dtype) -> None:
    pool = filled_pool(storage, dtype)
    content = pool.read_pages([4, 1])
    assert content[0][0].shape == (2, PAGE_SIZE, 2, 8)
    pool.write_pages([0, 2], content)
    keys = first_keys(pool)
    assert keys[:4] == [16, 17, 18, 19]
    assert keys[8:12] == [4, 5, 6, 7]
    assert keys[12:] == list(range(12, 24))


def test_writes_leave_every_array_where_it_is() -> None:
    pool = filled_pool(HeadMajor())
    before = addresses(pool.arrays())
    for step in range(20):
        rows = mx.ones((2, 2, 8)) * step
        for layer, shape in enumerate(SHAPES):
            keys = rows[:, : shape.kv_heads, : shape.key_dim]
            pool.write(layer, keys, keys[:, :, : shape.value_dim], SlotWrite([step, 23 - step]))
            mx.eval([mx.sum(array) for array in pool.gather(layer, mx.array([[0, 3]], dtype=mx.int32))])
        mx.eval(pool.arrays())
    pool.copy_pages([(0, 1, 4), (1, 2, 3)])
    assert addresses(pool.arrays()) == before


def test_a_budget_below_one_page_is_refused_with_the_numbers() -> None:
    with pytest.raises(OutOfPagesError, match=r"one page takes 512 bytes, 100 are left"):
        pages_for_budget(SHAPES, PAGE_SIZE, mx.float32, 100)


def test_a_budget_is_spent_in_whole_pages() -> None:
    assert pages_for_budget(SHAPES, PAGE_SIZE, mx.float32, 512 * 7 + 511) == 7


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * mmap.PAGESIZE


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a pool keeps its memory")
def test_discarded_pages_go_back_to_the_system_and_others_keep_their_content() -> None:
    pool = KvPool([LayerShape(2, 64, 64)] * 2, pages=2048, page_size=16, dtype=mx.float32)
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


@pytest.mark.parametrize("storage", [HeadMajor(), SlotMajor()])
def test_what_is_discarded_are_the_slots_of_those_pages(storage: Storage) -> None:
    array = storage.empty(8, 3, 5, mx.float16)
    storage.put(array, mx.ones((2, 3, 5), mx.float16), mx.array([3, 4]))
    mx.eval(array)
    found = np.array(array).reshape(-1).view(np.uint8)
    for start, stop in storage.spans(array, 3, 5):
        found[start:stop] = 0
    assert not found.any()


def test_the_memory_of_a_gpu_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "default_device", lambda: mx.gpu)
    pool = KvPool([LayerShape(2, 64, 64)], pages=4, page_size=16, dtype=mx.float32)
    assert (pool.returns_memory, pool.discard([0, 1, 2, 3])) == (False, 0)
