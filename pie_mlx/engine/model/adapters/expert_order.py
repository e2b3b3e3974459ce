"""Which token each row of a sorted layer of experts belongs to.

mlx-lm sorts many rows by expert before it projects them, and does not hand the order on. Its sorting function is
replaced by one that notes it for the thread's forward pass.
"""

import threading
from collections.abc import Callable
from typing import Any, cast

import mlx.core as mx

from pie_mlx.engine.model.mlx_lm.library import switch_layers

Sort = Callable[[mx.array, mx.array], tuple[mx.array, mx.array, mx.array]]

_NAME = "_gather_sort"
_ORIGINAL = cast("Sort", getattr(switch_layers, _NAME))


class _Noted(threading.local):
    rows: mx.array | None = None


_noted = _Noted()


def install() -> None:
    """Note the order from now on."""
    setattr(switch_layers, _NAME, _sort)


def sorted_rows() -> mx.array:
    """The tokens of the rows that were sorted last on this thread."""
    if _noted.rows is None:
        raise RuntimeError("experts: sorted rows, but nobody has sorted them")
    return _noted.rows


def forget() -> None:
    """Let go of the last order's array."""
    _noted.rows = None


def _sort(x: mx.array, indices: mx.array) -> tuple[mx.array, mx.array, mx.array]:
    result: Any = _ORIGINAL(x, indices)
    # The inverse of the inverse permutation is the order itself.
    _noted.rows = mx.argsort(result[2]) // indices.shape[-1]
    return result
