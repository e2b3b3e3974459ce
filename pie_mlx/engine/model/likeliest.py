"""The largest numbers of a row."""

import mlx.core as mx

GROUP = 1 << 4
"""Numbers of a row of which at first only the largest is compared."""


def likeliest(rows: mx.array, count: int) -> mx.array:
    """The places of the `count` largest of each of the `rows` [rows, width], in ascending order, [rows, count] uint32.
    Of numbers that equal the least of them, any may be among them.

    Where many groups make up a row, only those whose largest number is among the `count` largest are looked at: on a
    GPU MLX sorts what it is to divide.
    """
    groups, rest = divmod(rows.shape[-1], GROUP)
    if rest or groups <= count:
        return mx.sort(_first(rows, count), axis=-1)
    kept = _first(mx.max(mx.unflatten(rows, -1, (GROUP, groups)), axis=-2), count)
    places = (kept[:, None] + groups * mx.arange(GROUP, dtype=mx.uint32)[:, None]).flatten(1)
    first = _first(mx.take_along_axis(rows, places, axis=-1), count)
    return mx.sort(mx.take_along_axis(places, first, axis=-1), axis=-1)


def _first(rows: mx.array, count: int) -> mx.array:
    return mx.argpartition(-rows, count - 1, axis=-1)[:, :count]
