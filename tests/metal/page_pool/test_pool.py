"""The memory of the pages."""

from typing import Any

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pie_mlx.engine.paging.page_bytes import PageLayout
from pie_mlx.errors import OutOfPagesError
from pie_mlx.metal import KvPool, LayerShape, Quantisation, SlotWrite, arrays, pages_for_budget
from pie_mlx.metal.arrays import shares_memory
from pie_mlx.metal.kernels.kv_quantised import QuantisedPool
from pie_mlx.metal.kernels.references.kv_quantised import dense, quantise
from tests.addresses import addresses

SHAPES = [LayerShape(2, 8, 4), LayerShape(1, 4, 4)]
PAGES, PAGE_SIZE = 6, 4


@pytest.fixture(scope="session")
def kind() -> type[KvPool]:
    """The pool that is tested."""
    return KvPool


def filled_pool(kind: type[KvPool], dtype: mx.Dtype = mx.float32) -> KvPool:
    """A pool whose slots hold distinct small integers."""
    pool = kind(SHAPES, pages=PAGES, page_size=PAGE_SIZE, dtype=dtype)
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


def test_gathered_pages_hold_what_was_written(kind: type[KvPool]) -> None:
    keys, values = filled_pool(kind).gather(1, mx.array([[3, 0], [5, 5]], dtype=mx.int32))
    assert keys.shape == (2, 1, 8, 4)
    assert np.array(keys[:, 0, :, 0]).tolist() == [[112, 113, 114, 115, 100, 101, 102, 103], [120, 121, 122, 123] * 2]
    assert np.array(values[0, 0, :, 0]).tolist() == [224, 226, 228, 230, 200, 202, 204, 206]


def test_a_span_is_the_same_slots_without_a_gather(kind: type[KvPool]) -> None:
    pool = filled_pool(kind)
    spanned = pool.span(0, 4, 12)
    gathered = pool.gather(0, mx.array([[1, 2]], dtype=mx.int32))
    assert all(mx.array_equal(a, b) for a, b in zip(spanned, gathered, strict=True))


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(1, 4)), max_size=8))
def test_copies_happen_in_order(kind: type[KvPool], copies: list[tuple[int, int, int]]) -> None:  # P13
    pool = filled_pool(kind)
    expected = list(range(PAGES * PAGE_SIZE))
    for source, target, rows in copies:
        taken = expected[source * PAGE_SIZE : source * PAGE_SIZE + rows]
        expected[target * PAGE_SIZE : target * PAGE_SIZE + rows] = taken
    pool.copy_pages(copies)
    assert first_keys(pool) == expected


WORDS = (
    LayerShape(2, 64, 32, quantisation=Quantisation(8, 32)),
    LayerShape(1, 64, 64, quantisation=Quantisation(4, 64)),
)
places = st.lists(st.integers(0, PAGES * PAGE_SIZE - 1), min_size=1, max_size=6, unique=True)
pages = st.integers(0, PAGES - 1)
changes = st.one_of(places, st.tuples(pages, pages, st.integers(1, PAGE_SIZE)), st.tuples(pages, pages))


@settings(max_examples=30)
@given(st.lists(changes, max_size=6), st.integers(0, 99))
def test_quantised_pages_hold_the_words_of_the_reference(
    kind: type[KvPool], changes: list[list[int] | tuple[int, int, int] | tuple[int, int]], seed: int
) -> None:
    """After writes to some slots, copies of rows, and pages that went to the host and came back elsewhere."""
    random = np.random.default_rng(seed)
    pool = kind(WORDS, pages=PAGES, page_size=PAGE_SIZE, dtype=mx.float32)
    expected = [
        np.zeros((PAGES * PAGE_SIZE, shape.kv_heads, width), np.uint32) for shape in WORDS for width in shape.widths
    ]
    for change in changes:
        if isinstance(change, list):
            for layer, shape in enumerate(WORDS):
                sizes = [(len(change), shape.kv_heads, size) for size in (shape.key_dim, shape.value_dim)]
                rows = [mx.array(random.standard_normal(size, np.float32)) for size in sizes]
                pool.write(layer, *rows, SlotWrite(change))
                assert shape.quantisation is not None
                for part, each in enumerate(rows):
                    expected[2 * layer + part][change] = quantise(each, shape.quantisation)
            mx.eval(pool.arrays())
            continue
        source, target, *rows = change
        count = rows[0] if rows else PAGE_SIZE
        if rows:
            pool.copy_pages([(source, target, count)])
        else:
            pool.write_pages([target], pool.read_pages([source]))
        for words in expected:
            taken = words[source * PAGE_SIZE : source * PAGE_SIZE + count].copy()
            words[target * PAGE_SIZE : target * PAGE_SIZE + count] = taken
    found = [array for layer in pool.read_pages(range(PAGES)) for array in layer]
    for words, held in zip(expected, found, strict=True):
        np.testing.assert_array_equal(held.reshape(words.shape), words)
    for layer, shape in enumerate(WORDS):
        read = [np.array(each) for each in pool.rows(layer, mx.arange(PAGES * PAGE_SIZE))]
        assert shape.quantisation is not None
        for words, elements in zip(expected[2 * layer : 2 * layer + 2], read, strict=True):
            decoded = dense(QuantisedPool(mx.array(words)[None], shape.quantisation))[0]
            np.testing.assert_allclose(elements, decoded, atol=1e-5)


@pytest.fixture(params=["shared memory", "memory of its own"])
def ways_to_the_host(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of pages to the host and back."""
    is_shared = request.param == "shared memory"
    monkeypatch.setattr("pie_mlx.metal.page_pool.pool.shares_memory", lambda dtype: is_shared)


@pytest.mark.usefixtures("ways_to_the_host")
@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
def test_pages_come_back_from_the_host(kind: type[KvPool], dtype: mx.Dtype) -> None:
    pool = filled_pool(kind, dtype)
    content = pool.read_pages([4, 1])
    assert content[0][0].shape == (2, PAGE_SIZE, 2, 8)
    before, where = pool.clock, addresses(pool.arrays())
    pool.write_pages([0, 2], content)
    assert pool.clock > before  # copies of the pages are stale
    assert addresses(pool.arrays()) == where
    keys = first_keys(pool)
    assert keys[:4] == [16, 17, 18, 19]
    assert keys[8:12] == [4, 5, 6, 7]
    assert keys[12:] == list(range(12, 24))


@pytest.mark.usefixtures("ways_to_the_host")
def test_pages_are_read_into_the_memory_of_the_reader(kind: type[KvPool]) -> None:
    pool = filled_pool(kind)
    layout = PageLayout.of_pool(pool)
    rows = layout.rows(3)
    pool.read_pages([2, 3, 0], layout.content(rows))
    pool.write_pages([5, 1, 2], layout.content(rows[[0, 1, 2]]))
    keys = first_keys(pool)
    assert (keys[20:24], keys[4:8], keys[8:12]) == ([8, 9, 10, 11], [12, 13, 14, 15], [0, 1, 2, 3])


def test_memory_is_shared_where_the_device_reads_what_the_host_wrote() -> None:
    assert all(shares_memory(dtype) for dtype in (mx.float32, mx.float16, mx.bfloat16))


@pytest.mark.parametrize("how", ["copy", "read-only"])
def test_memory_of_which_the_host_has_only_a_copy_is_not_shared(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    def view(array: mx.array) -> Any:
        copy = np.array(array)
        copy.flags.writeable = how == "copy"
        return copy

    monkeypatch.setattr(arrays, "host_view", view)
    shares_memory.cache_clear()
    try:
        assert not shares_memory(mx.float32)
    finally:
        shares_memory.cache_clear()


def test_writes_leave_every_array_where_it_is(kind: type[KvPool]) -> None:
    pool = filled_pool(kind)
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


def test_the_memory_of_a_gpu_stays_whole() -> None:
    pool = KvPool([LayerShape(2, 64, 64)], pages=4, page_size=16, dtype=mx.float32)
    assert (pool.returns_memory, pool.discard([0, 1, 2, 3])) == (False, 0)
