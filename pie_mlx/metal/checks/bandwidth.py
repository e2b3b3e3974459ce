"""Measurements that need a real device: a kernel's bytes per second, and the chunk size from which gathering beats
tiles."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import mlx.core as mx

from pie_mlx.metal.checks.roofline import attention_floor, kv_write_floor, page_copy_floor
from pie_mlx.metal.kernels.attention_rows import attention_rows
from pie_mlx.metal.kernels.gathered_attention import gathered_attention
from pie_mlx.metal.kernels.kv_write import kv_write
from pie_mlx.metal.kernels.page_moves import page_copy
from pie_mlx.metal.kernels.paged_attention import AttentionOptions, PoolShape, paged_attention
from pie_mlx.metal.kernels.paged_prefill import paged_prefill, tile_size
from pie_mlx.metal.kernels.requirements import first_fence
from pie_mlx.metal.launcher import KernelLauncher

REPEATS = 5
SHAPE = PoolShape(page_size=16, heads=8, key_size=128, value_size=128)
ELEMENT_BYTES = 2
QUERY_HEADS = 32
CONTEXTS = 16
CONTEXT_LENGTH = 4096
PAGES = CONTEXTS * CONTEXT_LENGTH // SHAPE.page_size


@dataclass(frozen=True, slots=True)
class Load:
    """A launch on a pair of pools, and the least bytes that it moves."""

    launch: Callable[[KernelLauncher, mx.array, mx.array], list[mx.array]]
    least_bytes: float


def _attention(launcher: KernelLauncher, keys: mx.array, values: mx.array) -> list[mx.array]:
    per_context = PAGES // CONTEXTS
    tables = [range(context * per_context, (context + 1) * per_context) for context in range(CONTEXTS)]
    rows = attention_rows(tables, list(range(CONTEXTS)), [CONTEXT_LENGTH] * CONTEXTS)
    queries = mx.ones((CONTEXTS, QUERY_HEADS, SHAPE.key_size), mx.float16)
    return list(paged_attention(launcher, queries, keys, values, rows, AttentionOptions(0.1), first_fence()))


def _write(launcher: KernelLauncher, keys: mx.array, values: mx.array) -> list[mx.array]:
    slots = mx.arange(PAGES * SHAPE.page_size, dtype=mx.int32)
    return [kv_write(launcher, keys.flatten(0, 1), values.flatten(0, 1), keys, values, slots, first_fence())]


def _copy(launcher: KernelLauncher, keys: mx.array, values: mx.array) -> list[mx.array]:
    half = PAGES // 2
    whole = [SHAPE.page_size] * half
    return [page_copy(launcher, keys, values, range(half), range(half, PAGES), whole, first_fence())]


def _load(kernel: str) -> Load | None:
    match kernel:
        case "paged_attention":
            lengths = [[CONTEXT_LENGTH]] * CONTEXTS
            return Load(_attention, attention_floor(lengths, QUERY_HEADS, SHAPE, ELEMENT_BYTES))
        case "kv_write":
            return Load(_write, kv_write_floor(PAGES * SHAPE.page_size, SHAPE, ELEMENT_BYTES))
        case "page_copy":
            return Load(_copy, page_copy_floor([SHAPE.page_size] * (PAGES // 2), SHAPE, ELEMENT_BYTES))
        case _:
            return None


def measured_bandwidth(kernel: str, launcher: KernelLauncher, clock: Callable[[], float]) -> float | None:
    """Bytes per second of the best of several launches on 256 MB of pages. None for kernels not limited by memory.

    Only meaningful on a device: the emulator's time says nothing.
    """
    load = _load(kernel)
    if load is None or launcher.kind != "metal":
        return None
    keys, values = (mx.zeros((PAGES, SHAPE.page_size, SHAPE.heads, SHAPE.key_size), mx.float16) for _ in range(2))
    mx.eval(keys, values)
    return load.least_bytes / _best_seconds(lambda: load.launch(launcher, keys, values), clock)


def _best_seconds(launch: Callable[[], list[mx.array]], clock: Callable[[], float]) -> float:
    mx.eval(*launch())
    best = float("inf")
    for _ in range(REPEATS):
        outputs = launch()
        started = clock()
        mx.eval(*outputs)
        best = min(best, clock() - started)
    return best


CHUNKS = (32, 64, 128, 256, 512)
"""Chunk sizes, in rows, for timing both ways of attending."""


def crossover(rows: Sequence[int], tiled: Sequence[float], gathered: Sequence[float]) -> int:
    """The fewest rows from which gathering was faster for all longer chunks too. One more than the longest chunk if it
    never was."""
    threshold = rows[-1] + 1
    for count, by_tiles, by_gathering in reversed(list(zip(rows, tiled, gathered, strict=True))):
        if by_gathering >= by_tiles:
            break
        threshold = count
    return threshold


def measured_gather_rows(launcher: KernelLauncher, clock: Callable[[], float]) -> int | None:
    """Rows of a chunk from which gathering is faster, after a history of CONTEXT_LENGTH keys. None without a device."""
    if launcher.kind != "metal" or not launcher.runs("paged_prefill"):
        return None
    pages = CONTEXT_LENGTH // SHAPE.page_size
    keys, values = (mx.zeros((pages, SHAPE.page_size, SHAPE.heads, SHAPE.key_size), mx.float16) for _ in range(2))
    mx.eval(keys, values)
    table, options = list(range(pages)), AttentionOptions(0.1)
    tiled: list[float] = []
    gathered: list[float] = []
    for count in CHUNKS:
        queries = mx.ones((count, QUERY_HEADS, SHAPE.key_size), mx.float16)
        lengths = list(range(CONTEXT_LENGTH - count + 1, CONTEXT_LENGTH + 1))
        per_tile, _ = tile_size(SHAPE, ELEMENT_BYTES)
        rows = attention_rows([table], [0] * count, lengths, rows_per_window=per_tile)
        tiles = partial(paged_prefill, launcher, queries, keys, values, rows, options, first_fence())
        gather = partial(
            gathered_attention, launcher, queries, keys, values, table, CONTEXT_LENGTH, options, first_fence()
        )
        tiled.append(_best_seconds(lambda launch=tiles: list(launch()), clock))
        gathered.append(_best_seconds(lambda launch=gather: list(launch()), clock))
    return crossover(CHUNKS, tiled, gathered)
