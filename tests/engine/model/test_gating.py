"""The gate of our steps is that of mlx-lm; whoever else runs a model gets mlx-lm's own."""

import mlx.core as mx
import numpy as np
import pytest
from mlx_lm.models import activations, llama

from pie_mlx.engine.model import gating

WIDTH = 96


def arrays(dtype: mx.Dtype, rows: int = 7) -> tuple[mx.array, mx.array]:
    mx.random.seed(rows)
    return tuple((mx.random.normal((1, rows, WIDTH)) * 4).astype(dtype) for _ in range(2))  # type: ignore[return-value]


def exactly(gate: mx.array, x: mx.array) -> np.ndarray:
    wide = np.asarray(gate.astype(mx.float32)).astype(np.float64)
    return wide / (1 + np.exp(-wide)) * np.asarray(x.astype(mx.float32)).astype(np.float64)


def ours(gate: mx.array, x: mx.array) -> np.ndarray:
    with gating.gating():
        return np.asarray(gating.swiglu(gate, x).astype(mx.float32))


@pytest.mark.parametrize(("dtype", "error"), [(mx.float32, 1e-6), (mx.float16, 2e-3), (mx.bfloat16, 2e-2)])
def test_a_gate_is_as_exact_as_its_dtype(dtype: mx.Dtype, error: float) -> None:
    gate, x = arrays(dtype)
    assert np.allclose(ours(gate, x), exactly(gate, x), rtol=error, atol=1e-6)


@pytest.mark.parametrize("gate", [-200.0, -90.0, 0.0, 90.0, 200.0, float("inf"), float("nan")])
def test_a_gate_far_out_is_that_of_mlx(gate: float) -> None:
    gates, ones = mx.full((1, 1, 4), gate), mx.ones((1, 1, 4))
    expected = np.asarray(gating._ORIGINAL(gates, ones))
    assert np.allclose(ours(gates, ones), expected, rtol=1e-6, atol=1e-36, equal_nan=True)


def test_others_in_the_process_get_the_gate_of_mlx_to_the_bit() -> None:
    gating.install()
    gate, x = arrays(mx.float32)
    assert llama.swiglu is activations.swiglu is gating.swiglu
    assert np.array_equal(np.asarray(llama.swiglu(gate, x)), np.asarray(gating._ORIGINAL(gate, x)))
