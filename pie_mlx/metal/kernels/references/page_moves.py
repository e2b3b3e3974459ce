"""`page_copy`, `page_gather` and `page_scatter` in numpy."""

from collections.abc import Sequence

import mlx.core as mx
import numpy as np

from pie_mlx.metal.arrays import FloatArray, floats

KeysAndValues = tuple[FloatArray, FloatArray]


def page_copy(
    k_pool: mx.array, v_pool: mx.array, sources: Sequence[int], targets: Sequence[int], rows: Sequence[int]
) -> KeysAndValues:
    """Both pools after the copies."""
    keys, values = floats(k_pool), floats(v_pool)
    return _written(keys[sources], keys, targets, rows), _written(values[sources], values, targets, rows)


def page_gather(k_pool: mx.array, v_pool: mx.array, pages: Sequence[int], rows: Sequence[int]) -> KeysAndValues:
    """Copies of the pages, zero past their valid rows."""
    keys, values = floats(k_pool)[pages], floats(v_pool)[pages]
    return _merged(keys, np.zeros_like(keys), rows), _merged(values, np.zeros_like(values), rows)


def page_scatter(
    k_pages: mx.array,
    v_pages: mx.array,
    k_pool: mx.array,
    v_pool: mx.array,
    pages: Sequence[int],
    rows: Sequence[int],
) -> KeysAndValues:
    """Both pools with the pages written."""
    keys = _written(floats(k_pages), floats(k_pool), pages, rows)
    return keys, _written(floats(v_pages), floats(v_pool), pages, rows)


def _written(new: FloatArray, pool: FloatArray, pages: Sequence[int], rows: Sequence[int]) -> FloatArray:
    written = pool.copy()
    written[pages] = _merged(new, pool[pages], rows)
    return written


def _merged(new: FloatArray, old: FloatArray, rows: Sequence[int]) -> FloatArray:
    """The first rows[i] slots of new[i], then the rest of old[i]."""
    valid = np.arange(new.shape[1], dtype=np.int64)[None] < np.array(rows)[:, None]
    return np.where(valid.reshape(*valid.shape, *([1] * (new.ndim - 2))), new, old)
