"""Angles shared by a step give what `mx.fast.rope` gives, to the bit."""

from typing import Any

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.backends.cpu import rotation


def rotated(rows: int, heads: int, width: int, dtype: mx.Dtype, *, shared: bool, options: dict[str, Any]) -> mx.array:
    mx.random.seed(rows * width)
    values = mx.random.normal((rows, heads, 1, width)).astype(dtype)
    positions = mx.array([3 + 41 * row for row in range(rows)], dtype=mx.int32)
    plain: dict[str, Any] = {"dims": width, "traditional": False, "base": 10000.0, "scale": 1.0, "offset": positions}
    arguments: dict[str, Any] = plain | options
    with rotation.rotating(positions if shared else None):
        return rotation.rope(values, **arguments).astype(mx.float32)


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"traditional": True},
        {"dims": 16},
        {"traditional": True, "dims": 24, "scale": 0.25},
        {"base": 500000.0, "scale": 0.5},
        {"base": None, "freqs": mx.arange(1, 17, dtype=mx.float32) ** 2},
    ],
)
@pytest.mark.parametrize("rows", [1, 5])
def test_shared_angles_rotate_as_mlx_does(rows: int, options: dict[str, Any], dtype: mx.Dtype) -> None:  # Q10
    shared = rotated(rows, 3, 32, dtype, shared=True, options=options)
    alone = rotated(rows, 3, 32, dtype, shared=False, options=options)
    assert np.array_equal(np.asarray(shared), np.asarray(alone))


def test_other_positions_are_left_to_mlx() -> None:
    values, positions = mx.ones((2, 1, 1, 8)), mx.array([1, 2], dtype=mx.int32)
    with rotation.rotating(positions):
        moved = rotation.rope(values, 8, traditional=False, base=100.0, scale=1.0, offset=positions + 5)
    expected = rotation.rope(values, 8, traditional=False, base=100.0, scale=1.0, offset=positions + 5)
    assert np.array_equal(np.asarray(moved), np.asarray(expected))
