"""The kernels behind the page pool give what MLX operations give."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.metal import kernel_attention
from pie_mlx.metal.attention import AttentionPlan, attend
from pie_mlx.metal.kernel_attention import KernelPlan
from pie_mlx.metal.kernels.gathered_attention import gathered_attention
from pie_mlx.metal.launcher import KernelLauncher
from pie_mlx.metal.page_pool import kernel_pool
from pie_mlx.metal.page_pool.kernel_pool import KernelPool, independent_copies, kernels_carry
from pie_mlx.metal.page_pool.pool import KvPool, PageMemory, SlotWrite
from pie_mlx.metal.page_pool.shapes import LayerShape
from pie_mlx.metal.page_scores import PageScores
from pie_mlx.metal.quantisation import Quantisation
from pie_mlx.metal.runs import RunSlice
from tests.addresses import addresses

SHAPES = (LayerShape(2, 64, 64), LayerShape(1, 32, 48))
QUANTISED = (
    LayerShape(2, 64, 64, quantisation=Quantisation(8, 64)),
    LayerShape(1, 32, 96, quantisation=Quantisation(4, 32)),
)
PAGES, PAGE_SIZE = 40, 8


@dataclass(frozen=True)
class Rows:
    start: int
    count: int
    block_table: list[int]
    kv_length: int
    masks: Sequence[Sequence[int]] | None = None

    @property
    def context(self) -> int:
        return self.start


def normal(seed: int, *shape: int) -> mx.array:
    return mx.array(np.random.default_rng(seed).standard_normal(shape).astype(np.float32))


def both(
    launcher: KernelLauncher, dtype: mx.Dtype = mx.float32, shapes: Sequence[LayerShape] = SHAPES
) -> tuple[KvPool, KernelPool]:
    """A pool of operations and one of kernels, with the same contents."""
    plain = KvPool(shapes, pages=PAGES, page_size=PAGE_SIZE, dtype=dtype)
    kernels = KernelPool(shapes, pages=PAGES, page_size=PAGE_SIZE, dtype=dtype, launcher=launcher)
    write = SlotWrite(range(PAGES * PAGE_SIZE))
    for pool in (plain, kernels):
        for layer, shape in enumerate(shapes):
            keys = normal(layer, PAGES * PAGE_SIZE, shape.kv_heads, shape.key_dim)
            pool.write(layer, keys, normal(layer + 9, PAGES * PAGE_SIZE, shape.kv_heads, shape.value_dim), write)
        mx.eval(pool.arrays())
    return plain, kernels


def assert_same(plain: KvPool, kernels: KernelPool) -> None:
    pages = list(range(PAGES))
    for ours, theirs in zip(kernels.read_pages(pages), plain.read_pages(pages), strict=True):
        np.testing.assert_array_equal(ours[0], theirs[0])
        np.testing.assert_array_equal(ours[1], theirs[1])


either = pytest.mark.parametrize("shapes", [SHAPES, QUANTISED], ids=["full", "quantised"])


@either
@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16])
def test_both_pools_hold_what_was_written(
    launcher: KernelLauncher, dtype: mx.Dtype, shapes: Sequence[LayerShape]
) -> None:
    assert_same(*both(launcher, dtype, shapes))


@either
def test_pages_are_copied_in_order(launcher: KernelLauncher, shapes: Sequence[LayerShape]) -> None:
    plain, kernels = both(launcher, shapes=shapes)
    copies = [(0, 5, 3), (5, 6, 8), (1, 0, 8), (2, 5, 4)]
    for pool in (plain, kernels):
        pool.copy_pages(copies)
    assert_same(plain, kernels)


@either
@pytest.mark.parametrize("is_shared", [True, False])
def test_pages_spilled_can_be_restored_elsewhere(
    launcher: KernelLauncher, is_shared: bool, shapes: Sequence[LayerShape], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pie_mlx.metal.page_pool.pool.shares_memory", lambda dtype: is_shared)
    plain, kernels = both(launcher, mx.bfloat16, shapes)
    for pool in (plain, kernels):
        pool.write_pages([7, 3], pool.read_pages([1, 2]))
    assert_same(plain, kernels)


@either
def test_every_way_to_read_agrees(launcher: KernelLauncher, shapes: Sequence[LayerShape]) -> None:
    plain, kernels = both(launcher, shapes=shapes)
    reads = (
        lambda pool: pool.rows(0, mx.array([3, 100, 7], dtype=mx.int32)),
        lambda pool: pool.span(1, 5, 30),
        lambda pool: pool.gather(0, mx.array([[3, 1], [2, 9]], dtype=mx.int32)),
    )
    for read in reads:
        for ours, theirs in zip(read(kernels), read(plain), strict=True):
            assert mx.array_equal(ours, theirs)


def test_the_memory_never_moves(launcher: KernelLauncher) -> None:
    _, kernels = both(launcher)
    before = addresses(layer.keys for layer in kernels.layers)
    kernels.write(0, normal(1, 2, 2, 64), normal(2, 2, 2, 64), SlotWrite([3, 200]))
    kernels.copy_pages([(1, 2, 8)])
    mx.eval(kernels.arrays())
    assert addresses(layer.keys for layer in kernels.layers) == before


def test_many_pages_are_read_in_parts(launcher: KernelLauncher, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_pool, "PAGES_AT_ONCE", 7)
    assert_same(*both(launcher))


BATCHES = {
    "decode": [Rows(0, 1, [3, 1, 2], 20), Rows(1, 1, [7], 1), Rows(2, 1, [9, 8, 11, 12], 31)],
    "verification": [Rows(0, 3, [3, 1, 2], 20), Rows(3, 6, [9, 8, 11, 12], 31)],
    "chunk": [Rows(0, 20, [3, 1, 2, 5], 30), Rows(20, 10, [9, 8], 10)],
    "mixed": [Rows(0, 12, [3, 1, 2], 20), Rows(12, 1, [7], 5), Rows(13, 2, [9, 8], 12), Rows(15, 1, [10, 4], 9)],
    "masked": [
        Rows(0, 1, [3, 1, 2], 20, [[0, 4, 10, 6]]),
        Rows(1, 3, [9, 8], 12, [[2, 10], [0, 1, 9, 2], [11, 1]]),
        Rows(4, 1, [7], 5),
    ],
}


def planned(runs: Sequence[Rows], pool: KvPool, scores: PageScores | None = None) -> AttentionPlan:
    """A step that stores what its slots hold already."""
    places = [(run.block_table, slot) for run in runs for slot in range(run.kv_length - run.count, run.kv_length)]
    slots = [table[slot // PAGE_SIZE] * PAGE_SIZE + slot % PAGE_SIZE for table, slot in places]
    stored = [pool.rows(layer, mx.array(slots, dtype=mx.int32)) for layer in range(len(SHAPES))]
    mx.eval(stored)
    plan = AttentionPlan(runs, slots, PageMemory(pool), scores)
    for layer, (keys, values) in enumerate(stored):
        plan.store(layer, keys, values)
    return plan


@pytest.mark.parametrize(("batch", "window"), [*((name, None) for name in BATCHES), ("mixed", 7), ("masked", 7)])
def test_attention_agrees_with_mlx_operations(launcher: KernelLauncher, batch: str, window: int | None) -> None:
    plain, kernels = both(launcher)
    runs = BATCHES[batch]
    rows = sum(run.count for run in runs)
    plan = planned(runs, plain)
    for layer, (query_heads, key_dim) in enumerate(((4, 64), (2, 32))):
        queries = normal(5, rows, query_heads, key_dim)
        sinks = normal(6, query_heads)
        ours = KernelPlan(runs, kernels).attend(queries, layer, scale=0.2, window=window, sinks=sinks)
        theirs = attend(queries, layer, plan, scale=0.2, window=window, sinks=sinks)
        assert mx.abs(ours - theirs).max().item() < 1e-5


@pytest.mark.parametrize(("batch", "window"), [*((name, None) for name in BATCHES), ("mixed", 7), ("gathered", 9)])
def test_page_scores_agree_with_mlx_operations(launcher: KernelLauncher, batch: str, window: int | None) -> None:
    is_gathered = batch == "gathered"
    plain, kernels = both(replace(launcher, gather_rows=10) if is_gathered else launcher)
    runs = BATCHES["chunk" if is_gathered else batch]
    last = [RunSlice(run, max(0, run.count - 3), min(run.count, 3)) for run in runs[::2]]
    ours, theirs = PageScores(last, PAGE_SIZE), PageScores(last, PAGE_SIZE)
    kernel_plan, plan = KernelPlan(runs, kernels, ours), planned(runs, plain, theirs)
    for layer, (query_heads, key_dim) in enumerate(((4, 64), (2, 32))):
        queries, sinks = normal(5, sum(run.count for run in runs), query_heads, key_dim), normal(6, query_heads)
        attended = kernel_plan.attend(queries, layer, scale=0.2, window=window, sinks=sinks)
        expected = attend(queries, layer, plan, scale=0.2, window=window, sinks=sinks)
        assert mx.abs(attended - expected).max().item() < 1e-5
    for found, wanted in zip(ours.result(), theirs.result(), strict=True):
        assert found.shape == wanted.shape
        assert mx.abs(found - wanted).max().item() < 1e-5


@pytest.mark.parametrize("batch", ["decode", "mixed", "masked", "gathered"])
def test_attention_over_quantised_pages_agrees_with_mlx_operations(launcher: KernelLauncher, batch: str) -> None:
    is_gathered = batch == "gathered"
    plain, kernels = both(replace(launcher, gather_rows=10) if is_gathered else launcher, shapes=QUANTISED)
    runs = BATCHES["chunk" if is_gathered else batch]
    rows = sum(run.count for run in runs)
    plan = planned(runs, plain)
    for layer, (query_heads, key_dim) in enumerate(((4, 64), (2, 32))):
        queries = normal(5, rows, query_heads, key_dim)
        ours = KernelPlan(runs, kernels).attend(queries, layer, scale=0.2, window=None, sinks=None)
        theirs = attend(queries, layer, plan, scale=0.2)
        assert mx.abs(ours - theirs).max().item() < 1e-5


@pytest.mark.parametrize("window", [None, 7])
def test_long_chunks_gather_their_pages(launcher: KernelLauncher, window: int | None) -> None:
    plain, kernels = both(replace(launcher, gather_rows=10))
    runs = [*BATCHES["chunk"], Rows(30, 1, [7], 5)]
    plan = planned(runs, plain)
    queries, sinks = normal(5, 31, 4, 64), normal(6, 4)
    ours = KernelPlan(runs, kernels).attend(queries, 0, scale=0.2, window=window, sinks=sinks)
    theirs = attend(queries, 0, plan, scale=0.2, window=window, sinks=sinks)
    assert mx.abs(ours - theirs).max().item() < 1e-5


def test_long_chunks_with_bounded_scores_are_left_to_the_kernels(launcher: KernelLauncher) -> None:
    plain, kernels = both(replace(launcher, gather_rows=10))
    runs = BATCHES["chunk"]
    queries = normal(5, 30, 4, 64)
    ours = KernelPlan(runs, kernels).attend(queries, 0, scale=0.2, window=None, sinks=None, cap=2.0)
    theirs = attend(queries, 0, planned(runs, plain), scale=0.2, cap=2.0)
    assert mx.abs(ours - theirs).max().item() < 1e-5


@pytest.mark.parametrize(("count", "length", "read"), [(12, 44, 3), (12, 43, 3), (12, 41, 4), (44, 44, 6), (30, 44, 5)])
def test_a_window_gathers_no_page_before_it(
    launcher: KernelLauncher, count: int, length: int, read: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    gathered: list[list[int]] = []

    def noted(*arguments: Any) -> tuple[mx.array, mx.array]:
        gathered.append(arguments[4])
        return gathered_attention(*arguments)

    monkeypatch.setattr(kernel_attention, "gathered_attention", noted)
    plain, kernels = both(replace(launcher, gather_rows=10))
    runs = [Rows(0, count, [3, 1, 2, 5, 9, 8], length)]
    queries, sinks = normal(5, count, 4, 64), normal(6, 4)
    ours = KernelPlan(runs, kernels).attend(queries, 0, scale=0.2, window=7, sinks=sinks)
    theirs = attend(queries, 0, planned(runs, plain), scale=0.2, window=7, sinks=sinks)
    assert mx.abs(ours - theirs).max().item() < 1e-5
    assert gathered == [[3, 1, 2, 5, 9, 8][-read:]]


def lazy_pool() -> KernelPool:
    """One layer whose kernels compute nothing before they are evaluated, as on a GPU, and depend on all they take."""

    def kernel_of(source: object) -> Callable[..., list[mx.array]]:
        def kernel(*, inputs: list[mx.array], output_shapes: list[Any], output_dtypes: list[Any], **_: Any) -> Any:
            taken = sum((each.flatten()[:1].astype(mx.float32)[0] * 0 for each in inputs if each.size), mx.array(0.0))
            outputs = zip(output_shapes, output_dtypes, strict=True)
            return [mx.zeros(shape, dtype) + taken.astype(dtype) for shape, dtype in outputs]

        return kernel

    return KernelPool(SHAPES[:1], pages=4, page_size=16, dtype=mx.float32, launcher=KernelLauncher("metal", kernel_of))


def written(pool: KernelPool, keys: mx.array) -> None:
    pool.write(0, keys, keys, SlotWrite([3]))
    mx.eval(pool.arrays())


GOOD = mx.ones((1, 2, 64))


def fails_when_computed() -> mx.array:
    halves = mx.ones((64, 64), mx.float16)
    products = mx.block_masked_mm(halves, halves, 32, mx.ones((2, 2), mx.bool_))  # MLX has it for float32 alone
    return mx.broadcast_to(products[:1].reshape(1, 1, 64).astype(mx.float32), (1, 2, 64))


def test_a_step_that_fails_fails_those_behind_it_until_the_pool_recovers() -> None:  # E4
    pool = lazy_pool()
    for keys in (fails_when_computed(), GOOD):
        with pytest.raises(RuntimeError, match="float32"):
            written(pool, keys)
    pool.recover()
    written(pool, GOOD)


def test_a_step_that_is_dropped_is_never_computed() -> None:
    pool = lazy_pool()
    restore = PageMemory(pool).revision(range(len(pool.shapes))).restore
    pool.write(0, fails_when_computed(), GOOD, SlotWrite([3]))
    restore()
    written(pool, GOOD)


def test_copies_are_cut_where_order_matters() -> None:
    assert independent_copies([(0, 1, 1), (2, 3, 1), (1, 4, 1), (5, 2, 1)]) == [
        [(0, 1, 1), (2, 3, 1)],
        [(1, 4, 1), (5, 2, 1)],
    ]
    assert independent_copies([(0, 1, 1), (2, 0, 1)]) == [[(0, 1, 1)], [(2, 0, 1)]]


def test_sizes_the_kernels_do_not_take_are_left_to_mlx_operations(launcher: KernelLauncher) -> None:
    assert kernels_carry(launcher, SHAPES, 16)
    assert not kernels_carry(launcher, [LayerShape(1, 576, 512)], 16)
    assert kernels_carry(launcher, [LayerShape(1, 512, 64, latent=True)], 16)
    assert not kernels_carry(launcher, [LayerShape(1, 576, 64, latent=True)], 16)
    assert not kernels_carry(launcher, SHAPES, 12)
    assert not kernels_carry(launcher.without(["page_copy"]), SHAPES, 16)
    assert kernels_carry(launcher.without(["kv_write_quantised"]), SHAPES, 16)
    assert not kernels_carry(launcher.without(["kv_write_quantised"]), QUANTISED, 16)
