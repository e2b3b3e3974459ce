"""Memory layout of one layer's K or V for CPU products, and the return of unused parts to the system."""

import ctypes
import mmap
import sys
from collections.abc import Iterable
from typing import Any

import mlx.core as mx
import numpy.typing as npt

from pie_mlx.metal.page_pool.storage import HostPages

Spans = list[tuple[int, int]]
"""First byte and end (exclusive) of parts of an array."""


class HeadMajor:
    """`[heads, slots, dim]`: each head's rows are contiguous, so that BLAS multiplies them without a copy."""

    by_head = True

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
        # One flat index: indexing along an axis of a wider array is several times slower.
        index = pages[:, None] + mx.arange(heads, dtype=mx.int32)[:, None] * count
        taken = mx.unflatten(array.flatten(), 0, (heads * count, page_size * dim))[index]
        return mx.unflatten(taken.flatten(2), 2, (-1, dim))

    def host_pages(self, view: npt.NDArray[Any], page_size: int) -> HostPages:
        """A view of the whole array as its pages."""
        heads, slots, dim = view.shape
        return view.reshape(heads, slots // page_size, page_size, dim).transpose(1, 2, 0, 3)

    def spans(self, array: mx.array, start: int, stop: int) -> Spans:
        """The byte ranges of slots `start` .. `stop`, one per head."""
        heads, slots, dim = array.shape
        row = dim * array.itemsize
        return [((head * slots + start) * row, (head * slots + stop) * row) for head in range(heads)]


def put_rows(array: mx.array, index: mx.array | slice, rows: mx.array, axis: int) -> None:
    """Replaces the slices `index` [n] of an axis with `rows`, n slices; in place if nothing else holds the array.

    MLX's CPU backend puts rows along an axis several times faster than it scatters them.
    """
    if isinstance(index, slice):
        array[(slice(None),) * axis + (index,)] = rows
        return
    shape = [1] * array.ndim
    shape[axis] = -1
    array[...] = mx.put_along_axis(array, mx.reshape(index, shape), rows, axis)


_MADV_DONTNEED = 4


def can_discard() -> bool:
    """Whether the system takes memory back: on Linux, where it then reads as zeros."""
    return sys.platform == "linux"


def discard(array: npt.NDArray[Any], spans: Iterable[tuple[int, int]]) -> int:
    """Frees the bytes `start` .. `stop` of an array for each of `spans`. Returns how many went back to the system.

    Only whole pages of the system do.
    """
    base, size = array.ctypes.data, mmap.PAGESIZE
    madvise = ctypes.CDLL(None, use_errno=True).madvise
    madvise.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    given = 0
    for start, stop in spans:
        first, last = -(-(base + start) // size) * size, (base + stop) // size * size
        if first < last and madvise(first, last - first, _MADV_DONTNEED) == 0:
            given += last - first
    return given
