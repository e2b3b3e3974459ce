"""Kernels on one pool form a chain; a step that breaks it is found in the traced graph."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import mlx.core as mx
import pytest

from pie_mlx.metal.emulator import FenceError, Graph, check_chain, traced_graph
from pie_mlx.metal.kernel_attention import KernelPlan
from pie_mlx.metal.kernels.attention_rows import attention_rows
from pie_mlx.metal.kernels.kv_write import kv_write
from pie_mlx.metal.kernels.page_moves import page_copy
from pie_mlx.metal.kernels.paged_attention import AttentionOptions, paged_attention
from pie_mlx.metal.launcher import metal_launcher
from pie_mlx.metal.page_pool.kernel_pool import KernelPool
from pie_mlx.metal.page_pool.pool import SlotWrite
from pie_mlx.metal.page_pool.shapes import LayerShape

ROWS = attention_rows([[0, 1]], [0], [20])
SLOTS = mx.array([19], dtype=mx.int32)
POOL = mx.zeros((4, 16, 2, 64))
NEW = mx.ones((1, 2, 64))
QUERY = mx.ones((1, 4, 64))
FENCE = mx.zeros((1,), mx.int32)

Step = Callable[[mx.array, mx.array, mx.array], list[mx.array]]


def graph_of(step: Step, folder: Path) -> Graph:
    found: list[Graph] = []

    def traced(k_pool: mx.array, v_pool: mx.array, fence: mx.array) -> list[mx.array]:
        outputs = step(k_pool, v_pool, fence)
        found.append(traced_graph(outputs, {"k_pool": k_pool, "v_pool": v_pool}))
        return outputs

    mx.export_function(str(folder / "step.mlxfn"), traced, POOL, POOL + 0, FENCE)
    return found[0]


def write(k_pool: mx.array, v_pool: mx.array, fence: mx.array) -> mx.array:
    return kv_write(metal_launcher(), NEW, NEW, k_pool, v_pool, SLOTS, fence)


def attend(k_pool: mx.array, v_pool: mx.array, fence: mx.array) -> tuple[mx.array, mx.array]:
    return paged_attention(metal_launcher(), QUERY, k_pool, v_pool, ROWS, AttentionOptions(0.1), fence)


def chained(k_pool: mx.array, v_pool: mx.array, fence: mx.array) -> list[mx.array]:
    """Two steps that share nothing but the pool, and a page copy between them."""
    first, fence = attend(k_pool, v_pool, write(k_pool, v_pool, fence))
    fence = page_copy(metal_launcher(), k_pool, v_pool, [0], [3], [16], fence)
    second, fence = attend(k_pool, v_pool, write(k_pool, v_pool, fence))
    return [first, second, fence]


def writer_without_the_readers(k_pool: mx.array, v_pool: mx.array, fence: mx.array) -> list[mx.array]:
    written = write(k_pool, v_pool, fence)
    first, _ = attend(k_pool, v_pool, written)
    second, done = attend(k_pool, v_pool, write(k_pool, v_pool, written))
    return [first, second, done]


def reader_without_the_writer(k_pool: mx.array, v_pool: mx.array, fence: mx.array) -> list[mx.array]:
    written = write(k_pool, v_pool, fence)
    first, done = attend(k_pool, v_pool, fence)
    return [first, done, written]


def write_nobody_waits_for(k_pool: mx.array, v_pool: mx.array, fence: mx.array) -> list[mx.array]:
    first, done = attend(k_pool, v_pool, write(k_pool, v_pool, fence))
    write(k_pool, v_pool, done)
    return [first, done]


@dataclass(frozen=True)
class Rows:
    start: int
    count: int
    block_table: list[int]
    kv_length: int
    masks: None = None


def engine_steps(k_pool: mx.array, v_pool: mx.array, fence: mx.array) -> list[mx.array]:
    """Two steps of the engine's own pool and plan, a page copy between them: one row, a few, a tile, a long chunk."""
    launcher = replace(metal_launcher(), gather_rows=20)
    pool = KernelPool([LayerShape(2, 64, 64)], pages=4, page_size=16, dtype=mx.float32, launcher=launcher)
    layer = pool.layers[0]
    layer.k_pool, layer.v_pool, layer.fence = k_pool, v_pool, fence
    runs = [Rows(0, 1, [0], 9), Rows(1, 3, [1], 8), Rows(4, 12, [2], 12), Rows(16, 24, [2, 3], 24)]
    plan = KernelPlan(runs, pool)
    outputs: list[mx.array] = []
    for _ in range(2):
        pool.write(0, mx.ones((40, 2, 64)), mx.ones((40, 2, 64)), SlotWrite(range(40)))
        outputs.append(plan.attend(mx.ones((40, 4, 64)), 0, scale=0.1, window=None, sinks=None))
        pool.copy_pages([(0, 3, 16), (3, 1, 4)])
    return [*outputs, *pool.arrays()]


@pytest.mark.parametrize("pool", ["k_pool", "v_pool"])
def test_the_engines_own_steps_are_a_chain(pool: str, tmp_path: Path) -> None:
    check_chain(graph_of(engine_steps, tmp_path), pool, launches=2 * (1 + 4 + 2))


@pytest.mark.parametrize("pool", ["k_pool", "v_pool"])
def test_a_step_with_its_fences_is_a_chain(pool: str, tmp_path: Path) -> None:
    check_chain(graph_of(chained, tmp_path), pool, launches=5)


def test_a_writer_that_ignores_the_readers_is_found(tmp_path: Path) -> None:
    with pytest.raises(FenceError, match="not a chain"):
        check_chain(graph_of(writer_without_the_readers, tmp_path), "k_pool", launches=4)


def test_a_reader_that_ignores_the_writer_is_found(tmp_path: Path) -> None:
    with pytest.raises(FenceError, match="not a chain"):
        check_chain(graph_of(reader_without_the_writer, tmp_path), "k_pool", launches=2)


def test_a_write_whose_fence_nobody_evaluates_is_found(tmp_path: Path) -> None:
    with pytest.raises(FenceError, match="2 of 3 launches"):
        check_chain(graph_of(write_nobody_waits_for, tmp_path), "k_pool", launches=3)
