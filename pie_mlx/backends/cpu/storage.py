"""How K or V of one layer lie in memory, for the products of a CPU."""

import mlx.core as mx

Spans = list[tuple[int, int]]
"""First byte and end of parts of an array."""


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

    def spans(self, array: mx.array, start: int, stop: int) -> Spans:
        """Where slots `start` .. `stop` lie: a part of each head."""
        heads, slots, dim = array.shape
        row = dim * array.itemsize
        return [((head * slots + start) * row, (head * slots + stop) * row) for head in range(heads)]


def put_rows(array: mx.array, index: mx.array | slice, rows: mx.array, axis: int) -> None:
    """Replace the slices `index` [n] of an axis by `rows`, n slices, in place if nothing else holds the array.

    MLX's CPU backend puts them along an axis several times faster than it scatters them.
    """
    if isinstance(index, slice):
        array[(slice(None),) * axis + (index,)] = rows
        return
    shape = [1] * array.ndim
    shape[axis] = -1
    array[...] = mx.put_along_axis(array, mx.reshape(index, shape), rows, axis)
