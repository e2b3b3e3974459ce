"""Bytes of what layers store."""

import mlx.core as mx
import pytest

from pie_mlx.metal import LayerShape, Quantisation, page_bytes, pages_for_budget
from pie_mlx.metal.page_pool.pool import KvPool

LLAMA = LayerShape(8, 128, 128)


def quantised(bits: int, group: int) -> LayerShape:
    return LayerShape(8, 128, 128, quantisation=Quantisation(bits, group))


@pytest.mark.parametrize(("bits", "group", "times"), [(8, 64, 1.88), (8, 32, 1.77), (4, 64, 3.55), (4, 32, 3.19)])
def test_quantised_pages_fit_a_budget_so_many_times_more_often_than_float16(
    bits: int, group: int, times: float
) -> None:
    budget = 1 << 30
    full = pages_for_budget([LLAMA] * 32, 16, mx.float16, budget)
    assert times <= pages_for_budget([quantised(bits, group)] * 32, 16, mx.float16, budget) / full < times + 0.02


@pytest.mark.parametrize("shape", [LLAMA, quantised(8, 64), quantised(4, 32)])
@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16])
def test_the_bytes_of_pages_are_those_of_their_arrays(shape: LayerShape, dtype: mx.Dtype) -> None:
    pool = KvPool([shape, LLAMA], pages=3, page_size=8, dtype=dtype)
    assert pool.bytes() == sum(array.nbytes for array in pool.arrays())


def test_copies_that_attention_reads_are_not_smaller_for_words() -> None:
    full, words = LLAMA.copy_bytes(mx.float16), quantised(8, 64).copy_bytes(mx.float16)
    assert full == page_bytes([LLAMA], 1, mx.float16)
    assert words > full
