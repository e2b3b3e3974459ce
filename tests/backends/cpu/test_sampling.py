"""A CPU forbids and weighs tokens as a GPU does."""

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.backends import Backend
from pie_mlx.backends.cpu import CpuBackend


@pytest.mark.parametrize("width", [32, 70, 4096])
def test_both_ways_to_forbid_tokens_agree(width: int) -> None:  # F9
    random = np.random.default_rng(2)
    logits = random.normal(size=(3, width)).astype(np.float32)
    logits[0, :4] = [np.inf, -np.inf, 0.0, -0.0]
    masks = random.integers(0, 2**32, (3, -(-width // 32)), dtype=np.uint32)
    allowed = np.unpackbits(masks.view(np.uint8), axis=1, bitorder="little", count=width).astype(bool)
    for backend in (Backend(), CpuBackend()):
        found = np.asarray(backend.forbid(mx.array(logits), masks))
        assert np.array_equal(found, np.where(allowed, logits, -np.inf))


@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
def test_likelihoods_are_in_the_same_proportion(temperature: float) -> None:
    logits = mx.array(np.random.default_rng(3).normal(size=(2, 500)).astype(np.float32))
    rows = [np.asarray(one.likelihoods(logits, mx.full((2, 1), temperature))) for one in (Backend(), CpuBackend())]
    plain, powers = (row / row.sum(axis=-1, keepdims=True) for row in rows)
    np.testing.assert_allclose(plain, powers, rtol=1e-5)


@pytest.mark.parametrize("width", [7, 32, 70, 4096])
def test_the_largest_of_a_row_is_the_same(width: int) -> None:
    rows = np.random.default_rng(4).normal(size=(4, width)).astype(np.float32)
    rows[1], rows[2, width // 2], rows[3, -1] = -np.inf, np.inf, np.nan
    plain, in_columns = (np.asarray(one.largest(mx.array(rows))) for one in (Backend(), CpuBackend()))
    np.testing.assert_array_equal(plain, in_columns)
    np.testing.assert_array_equal(plain, rows.max(axis=-1, keepdims=True))
