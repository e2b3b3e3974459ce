"""Low-rank additions in one launch, each row with its own adapter slot."""

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx

from pie_mlx.metal.kernels.requirements import at_least, padded, require, require_float
from pie_mlx.metal.launcher import KernelLauncher

THREADS = 256
SEGMENT_ROWS = 8
OUT_BLOCK = 4096
MAX_RANK = 64


def adapter_segments(slots: Sequence[int]) -> tuple[list[list[int]], list[int]]:
    """Groups rows by adapter slot, at most SEGMENT_ROWS together (padded with -1). Returns the groups and their
    slots."""
    rows: list[list[int]] = []
    owners: list[int] = []
    for slot in sorted(set(slots)):
        mine = [row for row, other in enumerate(slots) if other == slot]
        for start in range(0, len(mine), SEGMENT_ROWS):
            part = mine[start : start + SEGMENT_ROWS]
            rows.append(part + [-1] * (SEGMENT_ROWS - len(part)))
            owners.append(slot)
    return rows, owners


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Shared by all launches of one forward pass: the slots of its rows, and the rows grouped by slot."""

    slots: Sequence[int]
    rows: mx.array
    owners: mx.array


def group_rows(slots: Sequence[int]) -> RowGroups:
    """Groups rows by these adapter slots."""
    rows, owners = adapter_segments(slots)
    return RowGroups(slots, mx.array(rows, dtype=mx.int32), padded(owners))


def takes_rank(rank: int) -> bool:
    """Whether the kernel supports this rank."""
    return 1 <= rank <= MAX_RANK and rank & (rank - 1) == 0


def _check(rows: mx.array, a_stack: mx.array, b_stack: mx.array, slots: Sequence[int]) -> None:
    name = "lora_batched"
    require_float(name, rows.dtype)
    adapters, width, rank = a_stack.shape
    require(rows.shape[1] == width, name, f"rows of {rows.shape[1]} for adapters of {width}")
    require(b_stack.shape[:2] == (adapters, rank), name, f"stacks {a_stack.shape} and {b_stack.shape} differ")
    require(takes_rank(rank), name, f"rank {rank}", f"pad adapters with zeros to a power of two up to {MAX_RANK}")
    require(len(slots) == rows.shape[0], name, f"{len(slots)} slots for {rows.shape[0]} rows")
    require(all(0 <= slot < adapters for slot in slots), name, f"a slot is outside 0..{adapters - 1}")


def lora_batched(
    launcher: KernelLauncher,
    rows: mx.array,
    a_stack: mx.array,
    b_stack: mx.array,
    adapter_scale: mx.array,
    groups: RowGroups,
) -> mx.array:
    """rows [tokens, in] times A and B of each row's slot, times its scale: [tokens, out].

    a_stack [adapters, in, rank], b_stack [adapters, rank, out], adapter_scale float32 [adapters or more]. Slot 0 adds
    nothing. Raises InvalidArgumentError for shapes that do not match, or a rank that is not a power of two up to 64.
    """
    _check(rows, a_stack, b_stack, groups.slots)
    width, rank, out = a_stack.shape[1], a_stack.shape[2], b_stack.shape[2]
    (delta,) = launcher.launch(
        "lora_batched",
        inputs={
            "rows_in": rows,
            "a_stack": a_stack,
            "b_stack": b_stack,
            "adapter_scale": at_least(adapter_scale),
            "segment_rows": groups.rows,
            "segment_slot": groups.owners,
        },
        template={
            "T": rows.dtype,
            "IN": width,
            "OUT": out,
            "RANK": rank,
            "ROWS": SEGMENT_ROWS,
            "OUT_BLOCK": OUT_BLOCK,
        },
        grid=(groups.rows.shape[0] * THREADS, -(-out // OUT_BLOCK), 1),
        threadgroup=(THREADS, 1, 1),
        outputs={"delta": ((rows.shape[0], out), rows.dtype)},
    )
    return delta
