"""Heads as words of codes, and back."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.metal.arrays import host_view
from pie_mlx.metal.kernels.kv_quantised import QuantisedPool
from pie_mlx.metal.kernels.references.kv_quantised import dense, quantise
from pie_mlx.metal.quantisation import Quantisation

KINDS = [Quantisation(bits, group) for bits in (8, 4) for group in (64, 32)]
kinds = st.sampled_from(KINDS)


def heads(seed: int, scale: float = 1.0, offset: float = 0.0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((3, 4, 2, 128)).astype(np.float32)
    return rows * np.float32(scale) + np.float32(offset)


@given(kinds, st.integers(0, 99), st.sampled_from([1e-6, 0.01, 1.0, 300.0, 1e5]), st.sampled_from([0.0, 1.0, -40.0]))
def test_words_are_those_of_the_reference_and_read_the_same_everywhere(
    kind: Quantisation, seed: int, scale: float, offset: float
) -> None:
    rows = mx.array(heads(seed, scale, offset))
    words = kind.encode(rows)
    np.testing.assert_array_equal(host_view(words), quantise(rows, kind))
    decoded = kind.decode(words, mx.float32)
    np.testing.assert_array_equal(kind.decode_on_host(host_view(words), mx.float32), host_view(decoded))
    np.testing.assert_allclose(host_view(decoded), dense(QuantisedPool(words, kind)), rtol=1e-6, atol=1e-6 * scale)


@given(kinds, st.integers(0, 99))
def test_no_element_is_further_off_than_one_step_of_its_group(kind: Quantisation, seed: int) -> None:
    rows = heads(seed)
    groups = rows.reshape(*rows.shape[:-1], -1, kind.group_size)
    step = (groups.max(-1) - groups.min(-1)) / (2**kind.bits - 1)
    error = np.abs(host_view(kind.decode(kind.encode(mx.array(rows)), mx.float32)) - rows).reshape(groups.shape).max(-1)
    assert (error <= step * 0.6 + 2e-3).all()  # half a step, and what float16 takes of scale and bias


@pytest.mark.parametrize(("kind", "bound"), list(zip(KINDS, (0.006, 0.006, 0.10, 0.09), strict=True)))
def test_the_error_of_ordinary_values_is_bounded(kind: Quantisation, bound: float) -> None:
    rows = heads(0)
    decoded = host_view(kind.decode(kind.encode(mx.array(rows)), mx.float32))
    error = np.sqrt(np.mean(np.square(decoded - rows)) / np.mean(np.square(rows)))
    assert 0 < error < bound


@given(kinds, st.sampled_from([0.0, 1.0, -3.5, 1e-7]))
def test_a_constant_head_is_kept_as_exactly_as_float16_can(kind: Quantisation, value: float) -> None:
    rows = mx.full((2, 1, 64), value)
    decoded = host_view(kind.decode(kind.encode(rows), mx.float32))
    np.testing.assert_array_equal(decoded, np.float32(np.float16(value)))


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_the_host_rounds_to_the_types_of_a_pool_as_the_device_does(dtype: mx.Dtype) -> None:
    kind = Quantisation(4, 32)
    words = kind.encode(mx.array(heads(3)))
    np.testing.assert_array_equal(kind.decode_on_host(host_view(words), dtype), host_view(kind.decode(words, dtype)))


@pytest.mark.parametrize(
    ("kind", "size", "reason"),
    [
        (Quantisation(6, 32), 64, "6-bit"),
        (Quantisation(8, 16), 64, "groups of 16"),
        (Quantisation(8, 64), 80, "head size 80"),
    ],
)
def test_layouts_that_nothing_can_read_are_refused(kind: Quantisation, size: int, reason: str) -> None:
    with pytest.raises(InvalidArgumentError, match=reason):
        kind.check("pages", size)


@given(kinds, st.integers(1, 8))
def test_the_words_of_a_head_tell_its_size(kind: Quantisation, groups: int) -> None:
    size = groups * kind.group_size
    assert kind.head_size(kind.words(size)) == size
    assert kind.words(size) * 4 == size * kind.element_bytes
