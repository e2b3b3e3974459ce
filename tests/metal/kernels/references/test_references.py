"""References that judge kernels: exact on any device, and tolerant only where rounding decides."""

import mlx.core as mx
import numpy as np
import pytest

from pie_mlx.metal.checks.check_cases import (
    AttentionCase,
    attention_inputs,
    check_cases,
    expected_attention,
    relative_error,
    tolerance_of,
)
from pie_mlx.metal.kernels.references.sample_rows import possible_tokens
from pie_mlx.metal.kernels.sample_rows import SamplerRows
from pie_mlx.metal.launcher import KernelLauncher


def in_tf32(array: mx.array) -> mx.array:
    """Rounded to the 10 mantissa bits that an M5 multiplies float32 with."""
    bits = np.array(array.astype(mx.float32)).view(np.uint32)
    return mx.array(((bits + 0x1000) & 0xFFFFE000).view(np.float32)).astype(array.dtype)


@pytest.fixture
def tf32_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """MLX as it multiplies on an M5: every product of it rounds its operands."""
    product, gathered = mx.array.__matmul__, mx.gather_mm
    monkeypatch.setattr(mx.array, "__matmul__", lambda left, right: product(in_tf32(left), in_tf32(right)))
    monkeypatch.setattr(mx, "matmul", lambda left, right, **more: product(in_tf32(left), in_tf32(right)))
    monkeypatch.setattr(mx, "gather_mm", lambda a, b, *more, **named: gathered(in_tf32(a), in_tf32(b), *more, **named))


@pytest.mark.usefixtures("tf32_device")
@pytest.mark.parametrize("kernel", ["paged_attention", "paged_prefill", "lora_batched", "sample_rows"])
def test_the_verdict_does_not_depend_on_how_the_device_multiplies(kernel: str, launcher: KernelLauncher) -> None:
    ones = mx.full((1, 1), 1 + 2**-12)
    assert (ones @ ones).item() == 1  # the device rounds
    case = next(case for case in check_cases() if case.kernel == kernel)
    assert case.error(launcher) <= case.tolerance


def test_operands_in_tf32_would_have_condemned_a_good_kernel() -> None:
    inputs = attention_inputs(AttentionCase())
    exact = expected_attention(inputs)
    rounded = attention_inputs(AttentionCase())
    for name in ("queries", "k_pool", "v_pool"):
        object.__setattr__(rounded, name, in_tf32(getattr(rounded, name)))
    assert relative_error(expected_attention(rounded), exact) > tolerance_of(mx.float32)


def drawn_at(uniform: float, top_p: float = 1.0) -> set[int]:
    """What may be drawn among four equally likely tokens."""
    one = mx.ones((1,))
    rows = SamplerRows(one, mx.zeros((1,), mx.int32), top_p * one, 0 * one, uniform * one)
    return {int(token) for token in possible_tokens(mx.zeros((1, 4)), rows)[:, 0]}


def test_both_neighbours_of_a_boundary_may_be_drawn() -> None:
    assert drawn_at(0.5) == {1, 2}
    assert drawn_at(0.5 + 1e-4) == {2}
    assert drawn_at(0.0) == {0}


def test_a_token_at_the_edge_of_top_p_may_be_kept_or_not() -> None:
    assert drawn_at(0.9, top_p=0.5) == {1, 2}
    assert drawn_at(0.9, top_p=0.51) == {2}
