"""How many bytes a kernel moves per second on a device, from its floor and the clock."""

# MLX's stubs leave variable arguments untyped.
# pyright: reportUnknownMemberType=false

from collections.abc import Callable
from dataclasses import dataclass

import mlx.core as mx

from pie_mlx.metal.backend import Backend
from pie_mlx.metal.floors import attention_floor, kv_write_floor, page_copy_floor
from pie_mlx.metal.kernels.attention_rows import attention_rows
from pie_mlx.metal.kernels.kv_write import kv_write
from pie_mlx.metal.kernels.page_moves import page_copy
from pie_mlx.metal.kernels.paged_attention import AttentionOptions, PoolShape, paged_attention
from pie_mlx.metal.kernels.requirements import first_fence

REPEATS = 5
SHAPE = PoolShape(page_size=16, heads=8, key_size=128, value_size=128)
ELEMENT_BYTES = 2
QUERY_HEADS = 32
CONTEXTS = 16
CONTEXT_LENGTH = 4096
PAGES = CONTEXTS * CONTEXT_LENGTH // SHAPE.page_size


@dataclass(frozen=True, slots=True)
class Load:
    """Something to launch on a pair of pools, and the least bytes it moves."""

    launch: Callable[[Backend, mx.array, mx.array], list[mx.array]]
    least_bytes: float


def _attention(backend: Backend, keys: mx.array, values: mx.array) -> list[mx.array]:
    per_context = PAGES // CONTEXTS
    tables = [range(context * per_context, (context + 1) * per_context) for context in range(CONTEXTS)]
    rows = attention_rows(tables, list(range(CONTEXTS)), [CONTEXT_LENGTH] * CONTEXTS)
    queries = mx.ones((CONTEXTS, QUERY_HEADS, SHAPE.key_size), mx.float16)
    return list(paged_attention(backend, queries, keys, values, rows, AttentionOptions(0.1), first_fence()))


def _write(backend: Backend, keys: mx.array, values: mx.array) -> list[mx.array]:
    slots = mx.arange(PAGES * SHAPE.page_size, dtype=mx.int32)
    return [kv_write(backend, keys.flatten(0, 1), values.flatten(0, 1), keys, values, slots, first_fence())]


def _copy(backend: Backend, keys: mx.array, values: mx.array) -> list[mx.array]:
    half = PAGES // 2
    whole = [SHAPE.page_size] * half
    return [page_copy(backend, keys, values, range(half), range(half, PAGES), whole, first_fence())]


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


def measured_bandwidth(kernel: str, backend: Backend, clock: Callable[[], float]) -> float | None:
    """Bytes per second of the best of some launches on 256 MB of pages; None for kernels that are not bound by memory.

    Only meaningful on a device: the emulator's time says nothing.
    """
    load = _load(kernel)
    if load is None or backend.kind != "metal":
        return None
    keys, values = (mx.zeros((PAGES, SHAPE.page_size, SHAPE.heads, SHAPE.key_size), mx.float16) for _ in range(2))
    mx.eval(keys, values, *load.launch(backend, keys, values))
    best = float("inf")
    for _ in range(REPEATS):
        outputs = load.launch(backend, keys, values)
        started = clock()
        mx.eval(*outputs)
        best = min(best, clock() - started)
    return load.least_bytes / best
