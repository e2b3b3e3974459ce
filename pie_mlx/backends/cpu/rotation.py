"""Rotary positions without a kernel: angles are computed once per step, not once per layer.

On a CPU, `mx.fast.rope` is about twenty operations, most of which compute the same sines and cosines.
"""

import math
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

import mlx.core as mx

_ORIGINAL = cast("Callable[..., mx.array]", mx.fast.rope)

Angles = tuple[mx.array, mx.array]
"""cos, and sin negated for the first of each pair, [rows, 1, 1, 2, half] or with the last two axes swapped."""


class Rotation:
    """Angles of one step, whose rows are single tokens at `positions` int32 [rows]."""

    def __init__(self, positions: mx.array) -> None:
        self.positions = positions
        self._known: dict[tuple[Any, ...], tuple[Angles, mx.array | None]] = {}

    def angles(
        self, dims: int, traditional: bool, base: float | None, scale: float, freqs: mx.array | None, dtype: mx.Dtype
    ) -> Angles:
        """The angles that `mx.fast.rope` uses with these parameters."""
        key = (dims, traditional, base, scale, id(freqs), dtype)
        if key not in self._known:
            # Keep the frequencies as well: their id is the key.
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
"""The rotation of the step being built. Only one step is built at a time."""


@contextmanager
def rotating(positions: mx.array | int | None) -> Generator[None]:
    """Inside the block, rotations at these `positions` int32 [rows] share their angles."""
    global _current
    _current = Rotation(positions) if isinstance(positions, mx.array) else None
    try:
        yield
    finally:
        _current = None


def install() -> None:
    """Replaces `mx.fast.rope` for rotations inside `rotating`."""
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
    """`mx.fast.rope`, with the step's shared angles if they apply."""
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
