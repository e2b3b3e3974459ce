"""Device bytes of the kernels against the least possible."""

from dataclasses import replace

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.metal.checks.check_cases import AttentionCase, attention_inputs, expected_attention, relative_error
from pie_mlx.metal.checks.roofline import attention_floor, kv_write_floor, lora_floor, page_copy_floor
from pie_mlx.metal.emulator import Emulator, LaunchReport
from pie_mlx.metal.kernels.attention_rows import attention_rows
from pie_mlx.metal.kernels.kv_write import kv_write
from pie_mlx.metal.kernels.lora_batched import group_rows, lora_batched
from pie_mlx.metal.kernels.page_moves import page_copy
from pie_mlx.metal.kernels.paged_attention import AttentionOptions, PoolShape, paged_attention, pool_shape
from pie_mlx.metal.kernels.requirements import first_fence
from pie_mlx.metal.launcher import KernelLauncher
from pie_mlx.metal.quantisation import Quantisation

SHAPE = PoolShape(page_size=16, heads=4, key_size=128, value_size=128)


def zeros(*shape: int, dtype: mx.Dtype = mx.float16) -> mx.array:
    array = mx.zeros(shape, dtype)
    mx.eval(array)
    return array


def attention_bytes(case: AttentionCase, launcher: KernelLauncher, reports: list[LaunchReport]) -> tuple[int, float]:
    inputs = attention_inputs(case)
    paged_attention(launcher, inputs.queries, inputs.k_pool, inputs.v_pool, inputs.rows, inputs.options, first_fence())
    windows = [list(range(max(1, length - case.rows + 1), length + 1)) for length in case.lengths]
    kind = case.quantisation
    floor = attention_floor(
        windows,
        case.heads * case.group,
        pool_shape(inputs.k_pool, inputs.v_pool),
        case.dtype.size,
        window=case.window,
        key_bytes=kind.element_bytes if kind else None,
    )
    return sum(report.bytes_moved for report in reports), floor


@pytest.mark.parametrize(
    "case",
    [
        AttentionCase(dtype=mx.float16, key_size=128, value_size=128, group=4, lengths=(512, 300)),
        AttentionCase(dtype=mx.bfloat16, key_size=80, value_size=96, lengths=(500,), page_size=8),
        AttentionCase(dtype=mx.float16, key_size=128, value_size=128, group=8, heads=1, lengths=(2000,)),
        AttentionCase(dtype=mx.float16, key_size=128, value_size=128, heads=1, lengths=(400,), window=130),
        AttentionCase(dtype=mx.float16, group=4, rows=4, lengths=(512, 300)),
        AttentionCase(dtype=mx.float16, key_size=128, value_size=128, lengths=(512,), quantisation=Quantisation(8, 64)),
        AttentionCase(dtype=mx.float16, key_size=128, value_size=128, lengths=(512,), quantisation=Quantisation(4, 64)),
    ],
    ids=lambda case: case.label,
)
def test_attention_reads_each_key_and_value_once(
    case: AttentionCase, launcher: KernelLauncher, reports: list[LaunchReport]
) -> None:
    moved, floor = attention_bytes(case, launcher, reports)
    assert floor <= moved <= 1.10 * floor


@pytest.mark.parametrize(("bits", "share"), [(8, 0.56), (4, 0.31)])
def test_attention_over_quantised_pages_reads_little_more_than_its_codes(
    bits: int, share: float, launcher: KernelLauncher, reports: list[LaunchReport]
) -> None:
    full = AttentionCase(dtype=mx.float16, key_size=128, value_size=128, lengths=(512,))
    moved, _ = attention_bytes(full, launcher, reports)
    reports.clear()
    own, _ = attention_bytes(replace(full, quantisation=Quantisation(bits, 64)), launcher, reports)
    assert own <= share * moved


def test_attention_reads_no_key_that_no_row_sees(launcher: KernelLauncher, emulator: Emulator) -> None:
    case = AttentionCase(rows=3, masked=True, window=40, lengths=(2, 37, 300), page_size=8)
    inputs = attention_inputs(case)
    held = np.repeat(inputs.held[..., None], case.heads * case.key_size, axis=2)
    with emulator.assume(k_pool=held, v_pool=held):
        actual, _ = paged_attention(
            launcher, inputs.queries, inputs.k_pool, inputs.v_pool, inputs.rows, inputs.options, first_fence()
        )
    assert relative_error(actual, expected_attention(inputs)) < 1e-5


def test_keys_of_a_hidden_stretch_are_not_read(launcher: KernelLauncher, reports: list[LaunchReport]) -> None:
    pool = zeros(8, 16, 1, 64, dtype=mx.float32)
    mask = np.ones(128, dtype=bool)
    mask[32:96] = False
    rows = attention_rows([list(range(8))], [0], [128], masks=[mask])
    paged_attention(launcher, zeros(1, 1, 64, dtype=mx.float32), pool, pool, rows, AttentionOptions(1.0), first_fence())
    assert reports[0].traffic["k_pool"].read == 64 * 64 * 4


def test_a_token_that_sees_nothing_gets_zeros(launcher: KernelLauncher) -> None:
    pool = mx.ones((2, 16, 1, 64))
    rows = attention_rows([[1], [0]], [0, 1], [5, 3], masks=[np.zeros(5, dtype=bool), None])
    queries = mx.ones((2, 1, 64))
    actual, _ = paged_attention(launcher, queries, pool, pool, rows, AttentionOptions(1.0), first_fence())
    assert actual[0].abs().max().item() == 0
    assert actual[1].min().item() == pytest.approx(1.0)


def test_a_row_gets_the_same_bits_alone_and_beside_longer_ones(launcher: KernelLauncher) -> None:  # Q10
    case = AttentionCase(lengths=(300, 700, 40), dtype=mx.float16, sinks=True)
    inputs = attention_inputs(case)
    together, _ = paged_attention(
        launcher, inputs.queries, inputs.k_pool, inputs.v_pool, inputs.rows, inputs.options, first_fence()
    )
    table = inputs.rows.tables[0].tolist()
    alone = attention_rows([table], [0], [300])
    single, _ = paged_attention(
        launcher, inputs.queries[:1], inputs.k_pool, inputs.v_pool, alone, inputs.options, first_fence()
    )
    assert mx.array_equal(single[0], together[0])


def test_kv_write_moves_the_rows_only(launcher: KernelLauncher, reports: list[LaunchReport]) -> None:
    rows, pool = zeros(6, 4, 128), zeros(8, 16, 4, 128)
    slots = mx.array([3, 40, 41, 90, 7, 100], dtype=mx.int32)
    kv_write(launcher, rows, rows, pool, pool + 0, slots, first_fence())
    floor = kv_write_floor(6, SHAPE, 2)
    assert floor <= reports[0].bytes_moved <= 1.02 * floor


def test_page_copy_moves_the_valid_rows_only(launcher: KernelLauncher, reports: list[LaunchReport]) -> None:
    keys, values = zeros(8, 16, 4, 128), zeros(8, 16, 4, 128)
    page_copy(launcher, keys, values, [0, 1], [6, 7], [16, 5], first_fence())
    floor = page_copy_floor([16, 5], SHAPE, 2)
    assert floor <= reports[0].bytes_moved <= 1.02 * floor


def test_adapters_are_read_once_per_group_of_rows(launcher: KernelLauncher, reports: list[LaunchReport]) -> None:
    a_stack, b_stack = zeros(5, 256, 16), zeros(5, 16, 256)
    lora_batched(launcher, zeros(8, 256), a_stack, b_stack, mx.ones((5,)), group_rows([1, 1, 1, 1, 3, 3, 3, 3]))
    floor = lora_floor(8, 2, 256, 16, 256, 2)
    assert floor <= reports[0].bytes_moved <= 1.02 * floor
