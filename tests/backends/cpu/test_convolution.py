"""Depthwise convolutions as sums of shifted inputs: MLX's results, and its own where the sums do not apply."""

import mlx.core as mx
import pytest
from mlx import nn

from pie_mlx.backends.cpu.convolution import convolve_by_shifts


class Model(nn.Module):
    def __init__(self, **options: int) -> None:
        super().__init__()
        self.conv = nn.Conv1d(6, 6, 4, **options)


def close(found: mx.array, expected: mx.array) -> bool:
    return found.shape == expected.shape and bool(mx.allclose(found, expected, atol=1e-5))


@pytest.mark.parametrize("tokens", [1, 2, 9])
@pytest.mark.parametrize("bias", [True, False])
def test_each_channel_alone_is_convolved_as_mlx_does(tokens: int, bias: bool) -> None:
    model, rows = Model(groups=6, bias=bias), mx.random.normal((3, tokens + 3, 6))
    if bias:
        model.conv.bias = mx.random.normal((6,))
    expected, names = model.conv(rows), set(model.conv.parameters())
    convolve_by_shifts(model)
    assert type(model.conv) is not nn.Conv1d
    assert close(model.conv(rows), expected)
    assert set(model.conv.parameters()) == names
    model.conv.weight = 2 * model.conv.weight
    if bias:
        model.conv.bias = 2 * model.conv.bias
    assert close(model.conv(rows), 2 * expected)


def test_another_number_format_is_left_to_mlx() -> None:
    model, rows = Model(groups=6), mx.random.normal((1, 9, 6)).astype(mx.bfloat16)
    expected = model.conv(rows)
    convolve_by_shifts(model)
    assert close(model.conv(rows), expected)


@pytest.mark.parametrize("options", [{}, {"groups": 3}, {"groups": 6, "padding": 1}, {"groups": 6, "stride": 2}])
def test_other_convolutions_stay_as_they_are(options: dict[str, int]) -> None:
    model = Model(**options)
    convolve_by_shifts(model)
    assert type(model.conv) is nn.Conv1d
