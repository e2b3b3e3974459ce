"""The token of each row in a sorted layer of experts.

mlx-lm sorts many rows by expert before it projects them, and does not pass the order on. We replace its sorting
function by one that records the order for the thread's forward pass.
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
    """Starts recording the order."""
    setattr(switch_layers, _NAME, _sort)


def sorted_rows() -> mx.array:
    """The tokens of the rows sorted last on this thread."""
    if _noted.rows is None:
        raise RuntimeError("experts: the rows count as sorted, but no order was recorded")
    return _noted.rows


def forget() -> None:
    """Releases the array of the last order."""
    _noted.rows = None


def _sort(x: mx.array, indices: mx.array) -> tuple[mx.array, mx.array, mx.array]:
    result: Any = _ORIGINAL(x, indices)
    # The inverse of the inverse permutation is the order.
    _noted.rows = mx.argsort(result[2]) // indices.shape[-1]
    return result
