"""Bytes the Metal kernels move against the least possible, and what that predicts: `python -m benchmarks.kernels`.

Counted on the emulator: no Apple GPU is needed, and no time is measured.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import mlx.core as mx
from rich.console import Console
from rich.table import Table

from pie_mlx.metal.checks.check_cases import AttentionCase, AttentionInputs, attention_inputs
from pie_mlx.metal.checks.roofline import (
    DecodeLoad,
    attention_floor,
    kv_write_floor,
    lora_floor,
    page_copy_floor,
    predictions,
)
from pie_mlx.metal.emulator import Builder, Emulator, LaunchReport, cache_folder
from pie_mlx.metal.kernels.kv_quantised import QuantisedPool, kv_write_quantised
from pie_mlx.metal.kernels.kv_write import kv_write
from pie_mlx.metal.kernels.lora_batched import group_rows, lora_batched
from pie_mlx.metal.kernels.page_moves import page_copy, page_gather
from pie_mlx.metal.kernels.paged_attention import PoolShape, paged_attention, pool_shape
from pie_mlx.metal.kernels.paged_prefill import paged_prefill
from pie_mlx.metal.kernels.requirements import first_fence
from pie_mlx.metal.kernels.sample_rows import SamplerRows, sample_rows
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher
from pie_mlx.metal.quantisation import Quantisation

SMOKE = ()
SHAPE = PoolShape(page_size=16, heads=2, key_size=128, value_size=128)
HALF = mx.float16


@dataclass(frozen=True)
class Line:
    """One measurement: device bytes counted, the floor, threadgroup memory in bytes, launches.

    `moved` counts an element once per threadgroup; `requested` counts every load and store.
    """

    name: str
    moved: int
    requested: int
    floor: float
    threadgroup_bytes: int
    launches: int


class Counter:
    """An emulator that adds up what its launches report."""

    def __init__(self) -> None:
        self._reports: list[LaunchReport] = []
        builder = Builder(cache_folder(os.environ))
        self.launcher: KernelLauncher = emulator_launcher(Emulator(builder, on_launch=self._reports.append))

    def line(self, name: str, floor: float) -> Line:
        """What was launched since the last line."""
        reports, self._reports[:] = list(self._reports), []
        moved = sum(report.bytes_moved for report in reports)
        traffic = [item for report in reports for item in report.traffic.values()]
        requested = sum(item.requested_read + item.requested_written for item in traffic)
        return Line(name, moved, requested, floor, max(report.threadgroup_bytes for report in reports), len(reports))


def zeros(*shape: int, dtype: mx.Dtype = HALF) -> mx.array:
    array = mx.zeros(shape, dtype)
    mx.eval(array)
    return array


def pools(pages: int) -> tuple[mx.array, mx.array]:
    shape = (pages, SHAPE.page_size, SHAPE.heads, SHAPE.key_size)
    return zeros(*shape), zeros(*shape)


def write_lines(counter: Counter) -> Iterator[Line]:
    keys, values = pools(8)
    rows = zeros(16, SHAPE.heads, SHAPE.key_size)
    slots = mx.arange(16, dtype=mx.int32)
    kv_write(counter.launcher, rows, rows, keys, values, slots, first_fence())
    yield counter.line("kv_write, 16 rows", kv_write_floor(16, SHAPE, 2))
    for bits in (8, 4):
        kind = Quantisation(bits, 64)
        words = zeros(8, SHAPE.page_size, SHAPE.heads, kind.words(SHAPE.key_size), dtype=mx.uint32)
        pool, other = QuantisedPool(words, kind), QuantisedPool(words + 0, kind)
        kv_write_quantised(counter.launcher, rows, rows, pool, other, slots, first_fence())
        yield counter.line(f"kv_write_quantised, {bits} bits", 2 * rows.size * (2 + kind.element_bytes))
    page_copy(counter.launcher, keys, values, [0, 1], [4, 5], [16, 7], first_fence())
    yield counter.line("page_copy, 16 + 7 rows", page_copy_floor([16, 7], SHAPE, 2))
    page_gather(counter.launcher, keys, values, [0, 1], [16, 16], first_fence())
    yield counter.line("page_gather, 2 pages", page_copy_floor([16, 16], SHAPE, 2))


def attention_line(counter: Counter, name: str, case: AttentionCase, prefill: bool = False) -> Line:
    inputs = attention_inputs(case)
    launch = paged_prefill if prefill else paged_attention
    launch(counter.launcher, inputs.queries, inputs.k_pool, inputs.v_pool, inputs.rows, inputs.options, first_fence())
    return counter.line(name, prefill_floor(case, inputs) if prefill else decode_floor(case, inputs))


def decode_floor(case: AttentionCase, inputs: AttentionInputs) -> float:
    windows = [list(range(max(1, length - case.rows + 1), length + 1)) for length in case.lengths]
    kind = case.quantisation
    return attention_floor(
        windows,
        case.heads * case.group,
        pool_shape(inputs.k_pool, inputs.v_pool),
        case.dtype.size,
        window=case.window,
        key_bytes=kind.element_bytes if kind else None,
    )


def prefill_floor(case: AttentionCase, inputs: AttentionInputs) -> float:
    """Queries and results once, keys and values once per query head: the rows are one tile."""
    shape = pool_shape(inputs.k_pool, inputs.v_pool)
    width, query_heads = shape.key_size + shape.value_size, case.heads * case.group
    return query_heads * case.dtype.size * width * (sum(case.lengths) + inputs.rows.count)


WIDE = AttentionCase(dtype=HALF, key_size=128, value_size=128, heads=2, group=4, lengths=(512,))


def attention_lines(counter: Counter) -> Iterator[Line]:
    for lengths in ((512,), (4096,), (512, 300, 64, 1)):
        yield attention_line(counter, f"paged_attention, keys {lengths}", replace(WIDE, lengths=lengths))
    yield attention_line(counter, "paged_attention, window 1024", replace(WIDE, lengths=(2048,), window=1024))
    yield attention_line(counter, "paged_attention, 4 draft rows", replace(WIDE, rows=4))
    for bits in (8, 4):
        case = replace(WIDE, quantisation=Quantisation(bits, 64))
        yield attention_line(counter, f"paged_attention, {bits}-bit pages", case)
    chunk = replace(WIDE, heads=1, group=2, lengths=(128,), rows=32)
    yield attention_line(counter, "paged_prefill, 32 rows of 128", chunk, prefill=True)


def other_lines(counter: Counter) -> Iterator[Line]:
    a_stack, b_stack = zeros(5, 1024, 16), zeros(5, 16, 1024)
    lora_batched(
        counter.launcher, zeros(8, 1024), a_stack, b_stack, mx.ones((5,)), group_rows([1, 1, 1, 1, 2, 2, 3, 4])
    )
    yield counter.line("lora_batched, 8 rows, 4 adapters", lora_floor(8, 4, 1024, 16, 1024, 2))
    for name, k, passes in (("plain", 0, 3), ("top-k 40", 40, 7)):
        ones = mx.ones((1,))
        rows = SamplerRows(ones, mx.array([k], dtype=mx.int32), ones, ones * 0, ones * 0.5)
        sample_rows(counter.launcher, mx.zeros((1, 32000)), rows)
        yield counter.line(f"sample_rows, {name} (up to {passes} passes)", 32000 * 4)


def traffic_table(lines: list[Line]) -> Table:
    table = Table(
        title="Device bytes counted on the emulator over the least possible (requested: every load and store)"
    )
    for heading in ("kernel", "bytes", "floor", "ratio", "requested", "threadgroup bytes", "launches"):
        table.add_column(heading, justify="left" if heading == "kernel" else "right")
    for line in lines:
        ratio = f"{line.moved / line.floor:.3f}"
        requested = f"{line.requested / line.floor:.2f}"
        cells = (line.name, f"{line.moved:,}", f"{line.floor:,.0f}", ratio, requested, f"{line.threadgroup_bytes:,}")
        table.add_row(*cells, str(line.launches))
    return table


@dataclass(frozen=True)
class Model:
    """What a decode step of a model reads."""

    name: str
    weight_bytes: float
    layers: int
    kv_heads: int
    head_size: int

    def load(self, rows: int, keys: int, ratio: float) -> DecodeLoad:
        """`ratio`: counted bytes of attention over their floor."""
        per_row = self.layers * self.kv_heads * 2 * self.head_size * 2 * keys * ratio
        return DecodeLoad(f"{self.name}, {rows} x {keys}", self.weight_bytes, per_row, rows)


MODELS = (
    Model("Llama 3.2 1B f16", 2.47e9, 16, 8, 64),
    Model("Llama 3.1 8B 4-bit", 4.52e9, 32, 8, 128),
)


def roofline_table(ratio: float) -> Table:
    loads = [model.load(rows, keys, ratio) for model in MODELS for rows, keys in ((1, 4096), (8, 4096))]
    title = "PREDICTED decode step, ms: bytes / published bandwidth, no dispatch, no compute. Not measured."
    table = Table(title=title)
    table.add_column("chip")
    for load in loads:
        table.add_column(load.name, justify="right")
    for chip, seconds in predictions(loads):
        table.add_row(f"{chip.name} ({chip.bytes_per_second / 1e9:.0f} GB/s)", *(f"{s * 1e3:.1f}" for s in seconds))
    return table


LAUNCHES = (
    ("decode, contexts up to 512 keys", "kv_write, paged_attention", 2),
    ("decode, longer contexts", "kv_write, paged_attention, attention_merge", 3),
    ("prefill chunk", "kv_write, paged_prefill", 2),
    ("decode and a chunk together", "kv_write, paged_attention, paged_prefill", 3),
)


def launch_table() -> Table:
    table = Table(title="Launches per layer")
    for heading in ("step", "kernels", "launches"):
        table.add_column(heading)
    for step, kernels, count in LAUNCHES:
        table.add_row(step, kernels, str(count))
    return table


def main(words: Sequence[str] | None = None) -> None:
    argparse.ArgumentParser(description=__doc__).parse_args(words)
    counter = Counter()
    attention = list(attention_lines(counter))
    console = Console(width=140)
    console.print(traffic_table([*write_lines(counter), *attention, *other_lines(counter)]))
    console.print(launch_table())
    console.print(roofline_table(attention[1].moved / attention[1].floor))


if __name__ == "__main__":
    main()
