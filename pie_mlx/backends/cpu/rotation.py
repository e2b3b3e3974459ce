"""Rotary positions where there is no kernel for them: angles are computed once per step, not once per layer.

Without a GPU, `mx.fast.rope` is some twenty operations, most of them for the same sines and cosines.
"""

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

import mlx.core as mx

_ORIGINAL = cast("Callable[..., mx.array]", mx.fast.rope)

Angles = tuple[mx.array, mx.array]
"""cos, and sin with a minus for the first of each pair, [rows, 1, 1, 2, half] or with the last two axes swapped."""


class Rotation:
    """The angles of one step whose rows are single tokens at `positions` int32 [rows]."""

    def __init__(self, positions: mx.array) -> None:
        self.positions = positions
        self._known: dict[tuple[Any, ...], tuple[Angles, mx.array | None]] = {}

    def angles(
        self, dims: int, traditional: bool, base: float | None, scale: float, freqs: mx.array | None, dtype: mx.Dtype
    ) -> Angles:
        """Those of `mx.fast.rope` with these parameters."""
        key = (dims, traditional, base, scale, id(freqs), dtype)
        if key not in self._known:
            # Kept with the frequencies, whose id stands for them.
            self._known[key] = self._angles(dims, traditional, base, scale, freqs, dtype), freqs
        return self._known[key][0]

    def _angles(
        self, dims: int, traditional: bool, base: float | None, scale: float, freqs: mx.array | None, dtype: mx.Dtype
    ) -> Angles:
        half = dims // 2
        if freqs is None:
            steps = mx.arange(0, -half, -1, dtype=mx.float32)
            inverse = mx.exp(steps * mx.array(math.log(base or 1.0) / half, mx.float32))
        else:
            inverse = mx.reciprocal(freqs)
        scaled = self.positions.astype(mx.float32) * scale
        theta = scaled[:, None, None, None] * inverse
        cosine, sine = mx.cos(theta).astype(dtype), mx.sin(theta).astype(dtype)
        axis = -1 if traditional else -2
        return mx.expand_dims(cosine, axis), mx.stack([-sine, sine], axis=axis)


_current: Rotation | None = None
"""Of the step that is being built; no two are at once."""


@contextmanager
def rotating(positions: mx.array | int | None) -> Generator[None]:
    """While a step of single tokens is built: rotations at these very `positions` [rows] share their angles."""
    global _current
    _current = Rotation(positions) if isinstance(positions, mx.array) else None
    try:
        yield
    finally:
        _current = None


def install() -> None:
    """Take the place of `mx.fast.rope`, for the rotations of steps announced by `rotating`."""
    mx.fast.rope = rope


def rope(
    a: mx.array,
    dims: int,
    *,
    traditional: bool,
    base: float | None,
    scale: float,
    offset: Any,
    freqs: mx.array | None = None,
    stream: Any = None,
) -> mx.array:
    """`mx.fast.rope`, with the angles of the step where it has them."""
    rotation = _current
    if rotation is None or offset is not rotation.positions or a.ndim != 4 or a.shape[2] != 1:
        return _ORIGINAL(
            a, dims, traditional=traditional, base=base, scale=scale, offset=offset, freqs=freqs, stream=stream
        )
    cosine, sine = rotation.angles(dims, traditional, base, scale, freqs, a.dtype)
    whole = a.shape[-1]
    pairs = mx.unflatten(a if whole == dims else a[..., :dims], -1, (-1, 2) if traditional else (2, -1))
    swapped = pairs[..., ::-1] if traditional else pairs[..., ::-1, :]
    rotated = (pairs * cosine + swapped * sine).flatten(-2)
    return rotated if whole == dims else mx.concatenate([rotated, a[..., dims:]], axis=-1)
