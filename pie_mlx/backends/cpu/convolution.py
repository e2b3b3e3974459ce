"""Convolutions along the tokens of each channel alone, as sums of shifted inputs.

MLX's CPU backend multiplies a matrix of one column for each channel: thousands of calls of BLAS in a step.
"""

from typing import Any, cast

import mlx.core as mx
from mlx import nn  # pyright: ignore[reportMissingTypeStubs]

_nn = cast("Any", nn)


def convolve_by_shifts(model: Any) -> None:
    """Makes the depthwise convolutions of `model` add up their inputs, shifted and weighted.

    Only the classes of the modules change, so parameter names stay the same.
    """
    modules = cast("list[tuple[str, Any]]", model.named_modules())
    for _, module in modules:
        if type(module) is _nn.Conv1d and _is_depthwise(module):
            module.__class__, module.taps = _Shifting, _Taps()


def _is_depthwise(module: Any) -> bool:
    channels, _, inputs = module.weight.shape
    return inputs == 1 and module.groups == channels and (module.stride, module.padding, module.dilation) == (1, 0, 1)


class _Taps:
    """The weights of a module by their shift, [kernel size, channels], until they are replaced."""

    def __init__(self) -> None:
        self._weight: mx.array | None = None
        self._taps: mx.array | None = None

    def of(self, weight: mx.array) -> mx.array:
        if self._taps is None or weight is not self._weight:
            self._weight, self._taps = weight, mx.contiguous(mx.squeeze(weight, 2).T)
        return self._taps


class _Shifting(_nn.Conv1d):
    """A depthwise convolution of `x` [rows, tokens, channels]."""

    def __call__(self, x: mx.array) -> mx.array:
        if not x.dtype == self.weight.dtype == mx.float32:
            return _nn.Conv1d.__call__(self, x)
        taps = self.taps.of(self.weight)
        length = x.shape[1] - taps.shape[0] + 1
        if length == 1:
            total = mx.sum(x * taps, axis=1, keepdims=True)
        else:
            total = x[:, :length] * taps[0]
            for shift in range(1, taps.shape[0]):
                total = total + x[:, shift : shift + length] * taps[shift]
        return total + self.bias if "bias" in self else total


_Shifting.__name__ = "Conv1d"
