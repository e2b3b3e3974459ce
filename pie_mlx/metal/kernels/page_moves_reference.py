"""`page_copy`, `page_gather` and `page_scatter` in MLX operations."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Sequence

import mlx.core as mx


def _merged(new: mx.array, old: mx.array, rows: Sequence[int]) -> mx.array:
    """The first rows[i] slots of new[i], the others of old[i]."""
    valid = mx.arange(new.shape[1])[None] < mx.array(list(rows))[:, None]
    return mx.where(valid.reshape(*valid.shape, *([1] * (new.ndim - 2))), new, old)


def page_copy(
    k_pool: mx.array, v_pool: mx.array, sources: Sequence[int], targets: Sequence[int], rows: Sequence[int]
) -> tuple[mx.array, mx.array]:
    """Both pools after the copies."""
    chosen = mx.array(list(sources))
    return page_scatter(k_pool[chosen], v_pool[chosen], k_pool, v_pool, targets, rows)


def page_gather(
    k_pool: mx.array, v_pool: mx.array, pages: Sequence[int], rows: Sequence[int]
) -> tuple[mx.array, mx.array]:
    """Copies of the pages, zero past their valid rows."""
    chosen = mx.array(list(pages))
    keys, values = k_pool[chosen], v_pool[chosen]
    return _merged(keys, mx.zeros_like(keys), rows), _merged(values, mx.zeros_like(values), rows)


def page_scatter(
    k_pages: mx.array,
    v_pages: mx.array,
    k_pool: mx.array,
    v_pool: mx.array,
    pages: Sequence[int],
    rows: Sequence[int],
) -> tuple[mx.array, mx.array]:
    """Both pools with the pages written."""
    chosen = mx.array(list(pages))
    keys, values = k_pool + 0, v_pool + 0
    keys[chosen] = _merged(k_pages, k_pool[chosen], rows)
    values[chosen] = _merged(v_pages, v_pool[chosen], rows)
    return keys, values
