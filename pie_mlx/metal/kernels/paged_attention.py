"""Attention over pages: decode, verification windows and tree drafts in one kernel, plus the merge of its parts."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

from dataclasses import dataclass

import mlx.core as mx

from pie_mlx.metal.kernels.attention_rows import AttentionRows
from pie_mlx.metal.kernels.kv_quantised import Pool, QuantisedPool, pool_array
from pie_mlx.metal.kernels.requirements import (
    THREADGROUP_MEMORY_BYTES,
    placeholder,
    require,
    require_float,
    require_threadgroup_memory,
    round_up,
)
from pie_mlx.metal.launcher import KernelLauncher, Outputs

PARTITION = 512
"""Keys per part. Fixed, so that other rows of the batch cannot change a result."""
LARGEST_HEAD = 256
LARGEST_LATENT = 512
LARGEST_ROPE = 128
"""Most elements of a key or value, and of the two parts of a latent layer's keys."""
HEADS_PER_SIMD = 8
LATENT_HEADS_PER_SIMD = 4
"""A result of 512 elements takes 16 registers of each lane for one query head."""
MAX_VECTORS = 64
STRIP = 32
"""Most keys that are scored together: those of a tile."""
KEY_GROUPS = 4
MAX_SIMDS = 8


@dataclass(frozen=True, slots=True)
class AttentionOptions:
    """A layer's attention parameters. `scale` multiplies the scores; then `cap * tanh(score / cap)`, then masks.

    `window`: most keys that a row sees, 0 for all. `cap`: 0 for none. `sinks`: float32 [query heads] or None.
    `latent`: a key is a row of both pools together, a value the row of the first.
    """

    scale: float
    window: int = 0
    cap: float = 0.0
    sinks: mx.array | None = None
    latent: bool = False


@dataclass(frozen=True, slots=True)
class Strips:
    """What strips of `size` keys have of each row's softmax: `sums` of e^(score - peak) against `peaks`, both float32
    [rows, query heads, strips]. Strips in which a row sees no key may hold anything."""

    peaks: mx.array
    sums: mx.array
    size: int


@dataclass(frozen=True, slots=True)
class PoolShape:
    """The sizes that a kernel is specialised for: of a key and a value as queries and results have them."""

    page_size: int
    heads: int
    key_size: int
    value_size: int
    latent: bool = False

    @property
    def stored(self) -> tuple[int, int]:
        """Elements of a row of each pool."""
        if self.latent:
            return self.value_size, self.key_size - self.value_size
        return self.key_size, self.value_size


def pool_shape(k_pool: Pool, v_pool: Pool, *, latent: bool = False) -> PoolShape:
    """Sizes of a pair of pools. Raises InvalidArgumentError if they do not match."""
    keys, values = pool_array(k_pool).shape[:3], pool_array(v_pool).shape[:3]
    same_kind = isinstance(k_pool, QuantisedPool) == isinstance(v_pool, QuantisedPool)
    require(keys == values and same_kind, "attention", f"key pages {keys} and value pages {values} differ")
    first, second = _head_size(k_pool), _head_size(v_pool)
    return PoolShape(keys[1], keys[2], *((first + second, first) if latent else (first, second)), latent)


def _head_size(pool: Pool) -> int:
    return pool.head_size if isinstance(pool, QuantisedPool) else pool.shape[3]


def option_inputs(options: AttentionOptions, rows: AttentionRows) -> dict[str, mx.array]:
    """The arrays of a layer's options and the rows' masks."""
    return {
        "sinks": placeholder(mx.float32) if options.sinks is None else options.sinks.astype(mx.float32),
        "mask_bits": placeholder(mx.uint32).reshape(1, -1) if rows.mask_bits is None else rows.mask_bits,
        "row_mask": placeholder(mx.int32) if rows.row_mask is None else rows.row_mask,
        "score_scale": mx.array(options.scale, mx.float32),
        "score_cap": mx.array(options.cap, mx.float32),
    }


def attention_inputs(
    queries: mx.array,
    k_pool: Pool,
    v_pool: Pool,
    rows: AttentionRows,
    options: AttentionOptions,
    fence: mx.array,
) -> dict[str, mx.array]:
    """The inputs of both attention kernels."""
    return {
        "queries": queries,
        "tables": rows.tables,
        "row_seq": rows.row_seq,
        "row_len": rows.row_len,
        "window_first": rows.window_first,
        "window_rows": rows.window_rows,
        "fence": fence,
        "k_pool": pool_array(k_pool),
        "v_pool": pool_array(v_pool),
        **option_inputs(options, rows),
    }


def pool_template(k_pool: Pool, shape: PoolShape, options: AttentionOptions, rows: AttentionRows) -> dict[str, int]:
    """The template arguments of both attention kernels."""
    kind = k_pool.quantisation if isinstance(k_pool, QuantisedPool) else None
    return {
        "DK": shape.key_size,
        "DV": shape.value_size,
        "HK": shape.heads,
        "P": shape.page_size,
        "WINDOW": options.window,
        "BITS": kind.bits if kind else 16,
        "GROUP": kind.group_size if kind else 32,
        "SINKS": options.sinks is not None,
        "CAPPED": options.cap > 0,
        "MASKED": rows.mask_bits is not None,
    }


def largest_sizes(latent: bool) -> tuple[int, int]:
    """Most elements of a row of each pool."""
    return (LARGEST_LATENT, LARGEST_ROPE) if latent else (LARGEST_HEAD, LARGEST_HEAD)


def carries_sizes(first: int, second: int, *, latent: bool) -> bool:
    """Whether the kernels support rows of these sizes."""
    pairs = zip((first, second), largest_sizes(latent), strict=True)
    return all(size % 4 == 0 and 0 < size <= largest for size, largest in pairs)


def check_attention(name: str, queries: mx.array, shape: PoolShape, options: AttentionOptions) -> int:
    """Query heads per KV head. Raises InvalidArgumentError for what the kernels do not support."""
    require_float(name, queries.dtype)
    require(queries.shape[2] == shape.key_size, name, f"queries of {queries.shape[2]} for keys of {shape.key_size}")
    group, rest = divmod(queries.shape[1], shape.heads)
    require(rest == 0 and group > 0, name, f"{queries.shape[1]} query heads over {shape.heads} KV heads")
    carried, limits = carries_sizes(*shape.stored, latent=shape.latent), largest_sizes(shape.latent)
    require(carried, name, f"head sizes {shape.stored}", f"multiples of 4 up to {limits[0]} and {limits[1]}")
    require(shape.page_size & (shape.page_size - 1) == 0, name, f"page size {shape.page_size} is no power of two")
    sinks = options.sinks
    require(sinks is None or sinks.shape == (queries.shape[1],), name, "one sink per query head is needed")
    return group


@dataclass(frozen=True, slots=True)
class Split:
    """How threadgroups divide a KV head's query vectors (`blocks`), and SIMD groups a block's vectors and keys."""

    heads: int
    head_groups: int
    key_groups: int
    blocks: int = 1

    @property
    def threads(self) -> int:
        return self.head_groups * self.key_groups * 32

    def threadgroup_bytes(self, shape: PoolShape, element_bytes: int) -> int:
        simds = self.head_groups * self.key_groups
        queries = self.heads * self.head_groups * shape.key_size * element_bytes
        exchange = max(1, self.key_groups - 1) * self.head_groups * shape.value_size * 4
        return queries + exchange + simds * self.heads * (32 + 2) * 4


def split_threadgroup(group: int, rows_per_window: int, shape: PoolShape, element_bytes: int) -> Split:
    """The split for windows of `rows_per_window` rows. Raises InvalidArgumentError if it does not fit.

    The many query heads of a latent layer become as few blocks as fit a threadgroup's memory.
    """
    vectors = group * rows_per_window
    require(
        vectors <= 2 * MAX_VECTORS, "paged_attention", f"{vectors} query vectors per window", "fewer rows per window"
    )
    if not shape.latent:
        split = _split(vectors, HEADS_PER_SIMD, 1)
        require_threadgroup_memory("paged_attention", split.threadgroup_bytes(shape, element_bytes))
        return split
    divided = [
        _split(vectors // blocks, LATENT_HEADS_PER_SIMD, blocks) for blocks in range(1, group + 1) if not group % blocks
    ]
    fitting = [split for split in divided if split.threadgroup_bytes(shape, element_bytes) <= THREADGROUP_MEMORY_BYTES]
    require(bool(fitting), "paged_attention", f"no division of {vectors} query vectors of {shape} fits a threadgroup")
    return fitting[0]


def _split(vectors: int, heads_per_simd: int, blocks: int) -> Split:
    """The split of `vectors` vectors, which are one of the blocks."""
    head_groups = -(-vectors // heads_per_simd)
    heads = -(-vectors // head_groups)
    return Split(heads, head_groups, max(1, min(KEY_GROUPS, MAX_SIMDS // head_groups)), blocks)


def paged_attention(
    launcher: KernelLauncher,
    queries: mx.array,
    k_pool: Pool,
    v_pool: Pool,
    rows: AttentionRows,
    options: AttentionOptions,
    fence: mx.array,
) -> tuple[mx.array, mx.array]:
    """Attention of every row over its context's pages.

    queries: [rows, query heads, key size]; pools: [pages, page size, heads, size] of the same type, or codes; fence:
    int32 [1] of the last kernel on the pools. Returns [rows, query heads, value size] and the next fence. A row that
    sees no key gets zeros. Raises InvalidArgumentError for unsupported inputs.
    """
    result, _, done = _launch(launcher, queries, k_pool, v_pool, rows, options, fence, scored=False)
    return result, done


def scored_attention(
    launcher: KernelLauncher,
    queries: mx.array,
    k_pool: Pool,
    v_pool: Pool,
    rows: AttentionRows,
    options: AttentionOptions,
    fence: mx.array,
) -> tuple[mx.array, Strips, mx.array]:
    """`paged_attention`, with what each strip of keys has of the softmax as a by-product."""
    result, strips, done = _launch(launcher, queries, k_pool, v_pool, rows, options, fence, scored=True)
    return result, strips, done


def _launch(
    launcher: KernelLauncher,
    queries: mx.array,
    k_pool: Pool,
    v_pool: Pool,
    rows: AttentionRows,
    options: AttentionOptions,
    fence: mx.array,
    *,
    scored: bool,
) -> tuple[mx.array, Strips, mx.array]:
    shape = pool_shape(k_pool, v_pool, latent=options.latent)
    group = check_attention("paged_attention", queries, shape, options)
    split = split_threadgroup(group, rows.rows_per_window, shape, queries.dtype.size)
    parts = -(-rows.longest // PARTITION)
    direct = parts == 1
    size = min(shape.page_size, STRIP)
    strips = rows.tables.shape[1] * (shape.page_size // size) if scored else 0
    outputs = _outputs(rows.count, queries, parts, strips, shape.value_size)
    result, peaks, sums, done = launcher.launch(
        "paged_attention",
        inputs=attention_inputs(queries, k_pool, v_pool, rows, options, fence),
        template={
            "T": queries.dtype,
            "OUT": outputs["result"][1],
            "G": group // split.blocks,
            "BLOCKS": split.blocks,
            "LATENT": shape.latent,
            **pool_template(k_pool, shape, options, rows),
            "HEADS": split.heads,
            "HEAD_GROUPS": split.head_groups,
            "KEY_GROUPS": split.key_groups,
            "PARTITION": PARTITION,
            "DIRECT": direct,
            "SCORED": scored,
        },
        grid=(rows.windows * split.threads, shape.heads * split.blocks, parts),
        threadgroup=(split.threads, 1, 1),
        outputs=outputs,
    )
    found = Strips(peaks, sums, size)
    if scored:
        found, peaks, sums = _apart(found, (rows.count, queries.shape[1]), 0 if direct else parts)
    return (result if direct else _merge(launcher, result, peaks, sums, rows, options, queries.dtype)), found, done


def _apart(both: Strips, lines: tuple[int, int], parts: int) -> tuple[Strips, mx.array, mx.array]:
    """The strips, and the peaks and sums of the `parts` before them."""
    split = lines[0] * lines[1] * parts
    (peaks, own_peaks), (sums, own_sums) = (mx.split(each, [split]) for each in (both.peaks, both.sums))
    strips = Strips(own_peaks.reshape(*lines, -1), own_sums.reshape(*lines, -1), both.size)
    return strips, peaks.reshape(*lines, parts), sums.reshape(*lines, parts)


def _outputs(rows: int, queries: mx.array, parts: int, strips: int, value_size: int) -> Outputs:
    """Shapes and types: the result itself if there is one part, else float32 parts with their peaks and sums; those of
    strips follow on them."""
    lines = (rows, queries.shape[1], parts)
    if parts == 1:
        result, side = ((*lines[:2], value_size), queries.dtype), ((1,), mx.float32)
    else:
        result, side = ((*lines, value_size), mx.float32), (lines, mx.float32)
    if strips:
        side = ((rows * queries.shape[1] * (strips + parts * (parts > 1)),), mx.float32)
    return {"result": result, "peaks": side, "sums": side, "done": ((1,), mx.int32)}


def _merge(
    launcher: KernelLauncher,
    partial: mx.array,
    peaks: mx.array,
    sums: mx.array,
    rows: AttentionRows,
    options: AttentionOptions,
    dtype: mx.Dtype,
) -> mx.array:
    """Merges the parts [rows, query heads, parts, value size] into one result [rows, query heads, value size]."""
    count, heads, _, size = partial.shape
    (merged,) = launcher.launch(
        "attention_merge",
        inputs={
            "partial": partial,
            "peaks": peaks,
            "sums": sums,
            "row_len": rows.row_len,
            "sinks": option_inputs(options, rows)["sinks"],
        },
        template={
            "T": dtype,
            "DV": size,
            "HQ": heads,
            "PARTITION": PARTITION,
            "WINDOW": options.window,
            "SINKS": options.sinks is not None,
        },
        grid=(round_up(size // 4, 32), count * heads, 1),
        threadgroup=(32, 1, 1),
        outputs={"merged": ((count, heads, size), dtype)},
    )
    return merged
