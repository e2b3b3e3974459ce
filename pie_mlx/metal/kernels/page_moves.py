"""Moves whole pages: copies inside a pool (copy-on-write), out of it (spill) and into it (restore).

A pool is any pair of arrays [pages, page size, ...] of one element type: keys and values, or their words of codes.
"""

from collections.abc import Sequence

import mlx.core as mx

from pie_mlx.metal.kernels.requirements import padded, require, round_up
from pie_mlx.metal.launcher import KernelLauncher

THREADS = 256


def _row(pool: mx.array) -> int:
    return pool.size // (pool.shape[0] * pool.shape[1])


def _geometry(
    name: str, k_pool: mx.array, v_pool: mx.array, pages: Sequence[int], rows: Sequence[int]
) -> tuple[dict[str, int | mx.Dtype], int, int]:
    """Template, threads along x, and threadgroup size. Checks what all moves require."""
    page_size = k_pool.shape[1]
    require(k_pool.shape[:2] == v_pool.shape[:2], name, f"pools {k_pool.shape} and {v_pool.shape} differ in pages")
    require(k_pool.dtype == v_pool.dtype, name, f"pools of {k_pool.dtype} and {v_pool.dtype}")
    require(len(pages) == len(rows) > 0, name, f"{len(pages)} pages and {len(rows)} row counts")
    require(all(0 <= page < k_pool.shape[0] for page in pages), name, f"a page outside 0..{k_pool.shape[0] - 1}")
    require(all(0 <= count <= page_size for count in rows), name, f"rows outside 0..{page_size}")
    widths = {"K_ROW": _row(k_pool), "V_ROW": _row(v_pool)}
    chunk = 4 if all(width % 4 == 0 for width in widths.values()) else 1
    width = round_up(page_size * max(widths.values()) // chunk, 32)
    threads = min(width, THREADS)
    return {"T": k_pool.dtype, "P": page_size, **widths, "N": chunk}, round_up(width, threads), threads


def page_copy(
    launcher: KernelLauncher,
    k_pool: mx.array,
    v_pool: mx.array,
    sources: Sequence[int],
    targets: Sequence[int],
    rows: Sequence[int],
    fence: mx.array,
) -> mx.array:
    """Copies the first rows[i] slots of page sources[i] to page targets[i]. Mutates the pools and returns the next
    fence.

    Raises InvalidArgumentError for pages out of range, repeated targets, or a page that is both read and written.
    """
    template, width, threads = _geometry("page_copy", k_pool, v_pool, [*sources, *targets], [*rows, *rows])
    require(len(sources) == len(targets), "page_copy", f"{len(sources)} sources for {len(targets)} targets")
    require(len(set(targets)) == len(targets), "page_copy", "a page is the target of two copies")
    require(not set(sources) & set(targets), "page_copy", "a page is source and target", "copy in two launches")
    (next_fence,) = launcher.launch(
        "page_copy",
        inputs={
            "k_pool": k_pool,
            "v_pool": v_pool,
            "source_pages": padded(sources),
            "target_pages": padded(targets),
            "valid_rows": padded(rows),
            "fence_in": fence,
        },
        template=template,
        grid=(width, len(sources), 1),
        threadgroup=(threads, 1, 1),
        outputs={"fence": ((1,), mx.int32)},
    )
    return next_fence


def page_gather(
    launcher: KernelLauncher,
    k_pool: mx.array,
    v_pool: mx.array,
    pages: Sequence[int],
    rows: Sequence[int],
    fence: mx.array,
) -> tuple[mx.array, mx.array, mx.array]:
    """Copies of pages, [count, page size, ...] for K and V, zero after rows[i]; and the next fence."""
    template, width, threads = _geometry("page_gather", k_pool, v_pool, pages, rows)
    keys, values, done = launcher.launch(
        "page_gather",
        inputs={
            "k_pool": k_pool,
            "v_pool": v_pool,
            "source_pages": padded(pages),
            "valid_rows": padded(rows),
            "fence": fence,
        },
        template=template,
        grid=(width, len(pages), 1),
        threadgroup=(threads, 1, 1),
        outputs={
            "k_pages": ((len(pages), *k_pool.shape[1:]), k_pool.dtype),
            "v_pages": ((len(pages), *v_pool.shape[1:]), v_pool.dtype),
            "done": ((1,), mx.int32),
        },
    )
    return keys, values, done


def page_scatter(
    launcher: KernelLauncher,
    k_pages: mx.array,
    v_pages: mx.array,
    k_pool: mx.array,
    v_pool: mx.array,
    pages: Sequence[int],
    rows: Sequence[int],
    fence: mx.array,
) -> mx.array:
    """Writes the first rows[i] slots of k_pages[i], v_pages[i] to page pages[i]. Mutates the pools."""
    template, width, threads = _geometry("page_scatter", k_pool, v_pool, pages, rows)
    require(len(set(pages)) == len(pages), "page_scatter", "a page is the target of two writes")
    shapes = (k_pages.shape, v_pages.shape)
    wanted = ((len(pages), *k_pool.shape[1:]), (len(pages), *v_pool.shape[1:]))
    require(shapes == wanted, "page_scatter", f"pages of shapes {shapes}, not {wanted}")
    (next_fence,) = launcher.launch(
        "page_scatter",
        inputs={
            "k_pages": k_pages,
            "v_pages": v_pages,
            "k_pool": k_pool,
            "v_pool": v_pool,
            "target_pages": padded(pages),
            "valid_rows": padded(rows),
            "fence_in": fence,
        },
        template=template,
        grid=(width, len(pages), 1),
        threadgroup=(threads, 1, 1),
        outputs={"fence": ((1,), mx.int32)},
    )
    return next_fence
