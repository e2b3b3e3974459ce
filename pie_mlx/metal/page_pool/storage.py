"""Memory layout of one layer's K or V, chosen for the code that reads it."""

from typing import Any, Protocol

import mlx.core as mx
import numpy.typing as npt

HostPages = npt.NDArray[Any]
"""K or V of some pages on the host, [pages, page_size, kv_heads, head_dim]; bfloat16 as uint16 bits."""


class Storage(Protocol):
    """One array over all slots, `by_head` or by slot. `put` replaces rows in place if no view is held; the others read
    lazily."""

    by_head: bool

    def empty(self, slots: int, heads: int, dim: int, dtype: mx.Dtype) -> mx.array: ...
    def put(self, array: mx.array, rows: mx.array, index: mx.array | slice) -> None: ...
    def rows(self, array: mx.array, index: mx.array) -> mx.array: ...
    def span(self, array: mx.array, start: int, stop: int) -> mx.array: ...
    def pages(self, array: mx.array, pages: mx.array, page_size: int) -> mx.array: ...
    def host_pages(self, view: npt.NDArray[Any], page_size: int) -> HostPages: ...


class SlotMajor:
    """`[slots, heads, dim]`, which is `[pages, page_size, heads, dim]`: what the Metal kernels read."""

    by_head = False

    def empty(self, slots: int, heads: int, dim: int, dtype: mx.Dtype) -> mx.array:
        """Zeros for `slots` rows."""
        return mx.zeros((slots, heads, dim), dtype)

    def put(self, array: mx.array, rows: mx.array, index: mx.array | slice) -> None:
        """Store `rows` [n, heads, dim] at slots `index`."""
        array[index] = rows

    def rows(self, array: mx.array, index: mx.array) -> mx.array:
        """Slots `index` [n] as [n, heads, dim]."""
        return array[index]

    def span(self, array: mx.array, start: int, stop: int) -> mx.array:
        """Slots `start` .. `stop` as [1, heads, n, dim], without a copy."""
        return array[None, start:stop].swapaxes(1, 2)

    def pages(self, array: mx.array, pages: mx.array, page_size: int) -> mx.array:
        """`pages` [b, n] as [b, heads, n * page_size, dim]."""
        paged = mx.unflatten(array, 0, (-1, page_size))
        return paged[pages].flatten(1, 2).swapaxes(1, 2)

    def host_pages(self, view: npt.NDArray[Any], page_size: int) -> HostPages:
        """A view of the whole array as its pages."""
        slots, heads, dim = view.shape
        return view.reshape(slots // page_size, page_size, heads, dim)
