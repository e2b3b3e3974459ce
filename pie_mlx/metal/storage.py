"""How K or V of one layer lie in memory: what each backend reads fastest."""

from typing import Any, Protocol

import mlx.core as mx
import numpy.typing as npt

from pie_mlx.metal.arrays import host_view, on_cpu, put_rows

HostArray = npt.NDArray[Any]


Spans = list[tuple[int, int]]
"""First byte and end of parts of an array."""


class Storage(Protocol):
    """One array over all slots. `put` replaces rows in place if nobody holds a view; the others read, lazily."""

    def empty(self, slots: int, heads: int, dim: int, dtype: mx.Dtype) -> mx.array: ...
    def put(self, array: mx.array, rows: mx.array, index: mx.array | slice) -> None: ...
    def rows(self, array: mx.array, index: mx.array) -> mx.array: ...
    def span(self, array: mx.array, start: int, stop: int) -> mx.array: ...
    def pages(self, array: mx.array, pages: mx.array, page_size: int) -> mx.array: ...
    def host(self, array: mx.array) -> HostArray: ...
    def spans(self, array: mx.array, start: int, stop: int) -> Spans: ...


class HeadMajor:
    """`[heads, slots, dim]`: each head's rows are contiguous, so that BLAS multiplies them without a copy."""

    def empty(self, slots: int, heads: int, dim: int, dtype: mx.Dtype) -> mx.array:
        """Zeros for `slots` rows."""
        return mx.zeros((heads, slots, dim), dtype)

    def put(self, array: mx.array, rows: mx.array, index: mx.array | slice) -> None:
        """Store `rows` [n, heads, dim] at slots `index`."""
        put_rows(array, index, rows.swapaxes(0, 1), axis=1)

    def rows(self, array: mx.array, index: mx.array) -> mx.array:
        """Slots `index` [n] as [n, heads, dim]."""
        return array[:, index].swapaxes(0, 1)

    def span(self, array: mx.array, start: int, stop: int) -> mx.array:
        """Slots `start` .. `stop` as [1, heads, n, dim], without a copy."""
        return array[None, :, start:stop]

    def pages(self, array: mx.array, pages: mx.array, page_size: int) -> mx.array:
        """`pages` [b, n] as [b, heads, n * page_size, dim]."""
        heads, slots, dim = array.shape
        count = slots // page_size
        # One flat index: taking along an axis of a wider array is several times slower.
        index = pages[:, None] + mx.arange(heads, dtype=mx.int32)[:, None] * count
        taken = mx.unflatten(array.flatten(), 0, (heads * count, page_size * dim))[index]
        return mx.unflatten(taken.flatten(2), 2, (-1, dim))

    def host(self, array: mx.array) -> HostArray:
        """The evaluated array as [heads, slots, dim], without a copy."""
        return host_view(array)

    def spans(self, array: mx.array, start: int, stop: int) -> Spans:
        """Where slots `start` .. `stop` lie: a part of each head."""
        heads, slots, dim = array.shape
        row = dim * array.itemsize
        return [((head * slots + start) * row, (head * slots + stop) * row) for head in range(heads)]


class SlotMajor:
    """`[slots, heads, dim]`, which is `[pages, page_size, heads, dim]`: what the Metal kernels read."""

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

    def host(self, array: mx.array) -> HostArray:
        """The evaluated array as [heads, slots, dim], without a copy."""
        return host_view(array).swapaxes(0, 1)

    def spans(self, array: mx.array, start: int, stop: int) -> Spans:
        """Where slots `start` .. `stop` lie."""
        row = array.nbytes // array.shape[0]
        return [(start * row, stop * row)]


def fastest_storage() -> Storage:
    """The layout for the default device."""
    return HeadMajor() if on_cpu() else SlotMajor()
