"""`kv_write` in numpy."""

from typing import TypeVar

import mlx.core as mx
import numpy as np
import numpy.typing as npt

from pie_mlx.metal.arrays import FloatArray, floats, host_view

Element = TypeVar("Element", bound=np.generic)


def kv_write(
    k_new: mx.array, v_new: mx.array, k_pool: mx.array, v_pool: mx.array, slots: mx.array
) -> tuple[FloatArray, FloatArray]:
    """The two pools with the new rows in their slots; rows with slot -1 are dropped. Shapes as the kernel's."""
    pairs = ((k_new, k_pool), (v_new, v_pool))
    keys, values = (scatter_rows(floats(rows), floats(pool), slots) for rows, pool in pairs)
    return keys, values


def scatter_rows(rows: npt.NDArray[Element], pool: npt.NDArray[Element], slots: mx.array) -> npt.NDArray[Element]:
    """A copy of a pool [pages, page size, ...] with rows [tokens, ...] written to `slots` [tokens]."""
    written = pool.copy()
    places = host_view(slots)[: len(rows)]
    written.reshape(-1, *pool.shape[2:])[places[places >= 0]] = rows[places >= 0]
    return written
