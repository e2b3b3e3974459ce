"""Attention of chunks over pages, computed in tiles with matrix products."""

import mlx.core as mx

from pie_mlx.metal.kernels.attention_rows import AttentionRows
from pie_mlx.metal.kernels.kv_quantised import Pool
from pie_mlx.metal.kernels.paged_attention import (
    AttentionOptions,
    PoolShape,
    attention_inputs,
    check_attention,
    pool_shape,
    pool_template,
)
from pie_mlx.metal.kernels.requirements import THREADGROUP_MEMORY_BYTES, require
from pie_mlx.metal.launcher import KernelLauncher


def tile_bytes(shape: PoolShape, element_bytes: int, query_rows: int, keys: int) -> int:
    """Threadgroup memory of a tile."""
    return element_bytes * (query_rows * shape.key_size + keys * max(shape.key_size, shape.value_size))


def tile_size(shape: PoolShape, element_bytes: int) -> tuple[int, int]:
    """Query rows and keys of the largest tile that fits the threadgroup memory. Raises InvalidArgumentError."""
    sizes = [(rows, keys) for rows in (32, 16, 8) for keys in (32, 16, 8)]
    fitting = [size for size in sizes if tile_bytes(shape, element_bytes, *size) <= THREADGROUP_MEMORY_BYTES]
    require(bool(fitting), "paged_prefill", f"no tile of heads {shape} fits the threadgroup memory")
    return fitting[0]


def paged_prefill(
    launcher: KernelLauncher,
    queries: mx.array,
    k_pool: Pool,
    v_pool: Pool,
    rows: AttentionRows,
    options: AttentionOptions,
    fence: mx.array,
) -> tuple[mx.array, mx.array]:
    """Like `paged_attention`, for windows of up to `tile_size(...)[0]` rows (`rows.rows_per_window`).

    Raises InvalidArgumentError for head sizes that are not multiples of 8, and for windows too long for a tile.
    """
    name = "paged_prefill"
    shape = pool_shape(k_pool, v_pool)
    group = check_attention(name, queries, shape, options)
    sizes = (shape.key_size, shape.value_size)
    require(all(size % 8 == 0 for size in sizes), name, f"head sizes {sizes}", "multiples of 8, or paged_attention")
    query_rows, keys = tile_size(shape, queries.dtype.size)
    require(rows.rows_per_window <= query_rows, name, f"windows of {rows.rows_per_window} rows, tiles of {query_rows}")
    threads = query_rows // 8 * 32
    result, done = launcher.launch(
        name,
        inputs=attention_inputs(queries, k_pool, v_pool, rows, options, fence),
        template={
            "T": queries.dtype,
            "G": group,
            "BQ": query_rows,
            "BK": keys,
            **pool_template(k_pool, shape, options, rows),
        },
        grid=(rows.windows * threads, queries.shape[1], 1),
        threadgroup=(threads, 1, 1),
        outputs={
            "result": ((rows.count, queries.shape[1], shape.value_size), queries.dtype),
            "done": ((1,), mx.int32),
        },
    )
    return result, done
