"""Launchers refuse what the kernels cannot do, with the reason."""

import mlx.core as mx
import pytest

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal.checks.check_cases import AttentionCase, attention_inputs
from pie_mlx.metal.kernels.attention_rows import attention_rows, window_bounds
from pie_mlx.metal.kernels.kv_quantised import QuantisedPool, kv_write_quantised
from pie_mlx.metal.kernels.kv_write import kv_write
from pie_mlx.metal.kernels.lora_batched import adapter_segments, group_rows, lora_batched
from pie_mlx.metal.kernels.page_moves import page_copy
from pie_mlx.metal.kernels.paged_attention import PoolShape, paged_attention, split_threadgroup
from pie_mlx.metal.kernels.paged_prefill import paged_prefill, tile_bytes, tile_size
from pie_mlx.metal.kernels.requirements import THREADGROUP_MEMORY_BYTES, first_fence
from pie_mlx.metal.kernels.sample_rows import SamplerRows, sample_rows
from pie_mlx.metal.launcher import KernelLauncher
from pie_mlx.metal.quantisation import Quantisation

POOL = mx.zeros((4, 8, 2, 64))
SLOTS = mx.array([1], dtype=mx.int32)


@pytest.mark.parametrize(
    ("rows", "slots", "reason"),
    [
        (mx.zeros((1, 2, 32)), SLOTS, "for a pool"),
        (mx.zeros((1, 2, 64), mx.int32), SLOTS, "no kernel for"),
        (mx.zeros((2, 2, 64)), SLOTS, "slots for"),
    ],
)
def test_rows_that_do_not_fit_the_pool(launcher: KernelLauncher, rows: mx.array, slots: mx.array, reason: str) -> None:
    with pytest.raises(InvalidArgumentError, match=reason):
        kv_write(launcher, rows, rows, POOL, POOL, slots, first_fence())


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (mx.zeros((1, 2, 32)), "groups of 64 do not divide the head size 32"),
        (mx.zeros((1, 3, 64)), "do not fit the pool"),
        (mx.zeros((1, 2, 64), mx.int32), "no kernel for"),
        (mx.zeros((2, 2, 64)), "slots for"),
    ],
)
def test_rows_that_cannot_be_quantised_into_the_pool(launcher: KernelLauncher, rows: mx.array, reason: str) -> None:
    kind = Quantisation(8, 64)
    pool = QuantisedPool(mx.zeros((4, 8, 2, kind.words(64)), mx.uint32), kind)
    with pytest.raises(InvalidArgumentError, match=reason):
        kv_write_quantised(launcher, rows, rows, pool, pool, SLOTS, first_fence())


@pytest.mark.parametrize(
    ("sources", "targets", "rows", "reason"),
    [
        ([0], [4], [8], "outside 0..3"),
        ([0], [1], [9], "rows outside 0..8"),
        ([0, 1], [2, 2], [8, 8], "target of two"),
        ([0, 1], [1, 2], [8, 8], "source and target"),
        ([0, 1], [2], [8], "row counts"),
    ],
)
def test_page_copies_that_make_no_sense(
    launcher: KernelLauncher, sources: list[int], targets: list[int], rows: list[int], reason: str
) -> None:
    with pytest.raises(InvalidArgumentError, match=reason):
        page_copy(launcher, POOL, POOL + 0, sources, targets, rows, first_fence())


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (AttentionCase(key_size=260, value_size=260), "multiples of 4 up to 256"),
        (AttentionCase(page_size=12), "no power of two"),
    ],
)
def test_attention_shapes_without_a_kernel(launcher: KernelLauncher, case: AttentionCase, reason: str) -> None:
    inputs = attention_inputs(case)
    arguments = (inputs.queries, inputs.k_pool, inputs.v_pool, inputs.rows, inputs.options, first_fence())
    with pytest.raises(InvalidArgumentError) as caught:
        paged_attention(launcher, *arguments)
    assert reason in caught.value.message + caught.value.hint


def test_windows_longer_than_a_tile(launcher: KernelLauncher) -> None:
    inputs = attention_inputs(AttentionCase(rows=64))
    with pytest.raises(InvalidArgumentError, match="windows of 64 rows"):
        paged_prefill(
            launcher, inputs.queries, inputs.k_pool, inputs.v_pool, inputs.rows, inputs.options, first_fence()
        )


def test_query_heads_that_do_not_divide(launcher: KernelLauncher) -> None:
    inputs = attention_inputs(AttentionCase(heads=2, group=2))
    with pytest.raises(InvalidArgumentError, match="3 query heads over 2"):
        paged_attention(
            launcher, inputs.queries[:, :3], inputs.k_pool, inputs.v_pool, inputs.rows, inputs.options, first_fence()
        )


@pytest.mark.parametrize("group", [1, 2, 3, 5, 8, 12, 16, 71])
@pytest.mark.parametrize("size", [64, 128, 256])
def test_every_division_fits_a_threadgroup(group: int, size: int) -> None:
    shape = PoolShape(16, 1, size, size)
    element_bytes = 4 if group * size <= 16 * 256 else 2
    if group * size * element_bytes > THREADGROUP_MEMORY_BYTES // 2:
        with pytest.raises(InvalidArgumentError, match="threadgroup memory"):
            split_threadgroup(group, 1, shape, element_bytes)
    else:
        split = split_threadgroup(group, 1, shape, element_bytes)
        assert split.heads * split.head_groups >= group
        assert split.threads <= 1024


@pytest.mark.parametrize("element_bytes", [2, 4])
@pytest.mark.parametrize("size", [64, 80, 96, 128, 192, 256])
def test_every_head_size_has_a_tile(size: int, element_bytes: int) -> None:
    shape = PoolShape(16, 1, size, size)
    assert tile_bytes(shape, element_bytes, *tile_size(shape, element_bytes)) <= THREADGROUP_MEMORY_BYTES


@pytest.mark.parametrize("rank", [3, 128])
def test_ranks_that_are_not_padded(launcher: KernelLauncher, rank: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"rank {rank}"):
        lora_batched(
            launcher, mx.zeros((1, 8)), mx.zeros((2, 8, rank)), mx.zeros((2, rank, 8)), mx.ones((2,)), group_rows([1])
        )


def test_adapter_slots_out_of_range(launcher: KernelLauncher) -> None:
    with pytest.raises(InvalidArgumentError, match="a slot is outside"):
        lora_batched(
            launcher, mx.zeros((1, 8)), mx.zeros((2, 8, 4)), mx.zeros((2, 4, 8)), mx.ones((2,)), group_rows([2])
        )


def test_rows_are_grouped_by_adapter() -> None:
    rows, owners = adapter_segments([2, 0, 2, *([1] * 9)])
    assert owners == [0, 1, 1, 2]
    assert [[row for row in group if row >= 0] for group in rows] == [[1], list(range(3, 11)), [11], [0, 2]]


def test_windows_are_runs_of_one_context() -> None:
    assert window_bounds([0, 0, 0, 1, 1, 0], 2) == ([0, 2, 3, 5], [2, 1, 2, 1])


def test_rows_of_unknown_contexts() -> None:
    with pytest.raises(InvalidArgumentError, match="row of context 1"):
        attention_rows([[0]], [1], [1])


def test_a_short_vocabulary_mask(launcher: KernelLauncher) -> None:
    ones = mx.ones((1,))
    rows = SamplerRows(
        ones, mx.zeros((1,), mx.int32), ones, ones, ones, mx.zeros((1, 1), mx.uint32), mx.zeros((1,), mx.int32)
    )
    with pytest.raises(InvalidArgumentError, match="masks of 1 words for 100 tokens"):
        sample_rows(launcher, mx.zeros((1, 100)), rows)


def test_a_row_without_an_allowed_token_is_marked(launcher: KernelLauncher) -> None:
    one = mx.ones((1,))
    none = mx.zeros((1, 4), mx.uint32)
    rows = SamplerRows(one, mx.zeros((1,), mx.int32), one, one * 0, one * 0.5, none, mx.zeros((1,), mx.int32))
    token, logprob = sample_rows(launcher, mx.zeros((1, 100)), rows)
    assert token.item() == 0xFFFFFFFF
    assert logprob.item() == float("-inf")
