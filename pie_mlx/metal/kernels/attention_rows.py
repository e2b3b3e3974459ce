"""The ragged query rows of a step: the context of each row, and the keys that it sees."""

from collections.abc import Sequence
from dataclasses import dataclass

import mlx.core as mx
import numpy as np

from pie_mlx.metal.kernels.requirements import SMALLEST_BUFFER, padded, require, round_up


@dataclass(frozen=True, slots=True)
class AttentionRows:
    """Query rows on the device, shared by all layers of a step.

    tables: int32 [contexts, max pages]; row_seq, row_len: int32 [count], table line and visible keys, own key included;
    window_first, window_rows: int32 [windows], runs of at most `rows_per_window` rows of one context; row_mask: int32
    [count], line of mask_bits or -1; mask_bits: uint32 [masks, words], bit i of word i // 32 for key i. Arrays are
    padded to a small buffer. `longest` is the largest row_len.
    """

    tables: mx.array
    row_seq: mx.array
    row_len: mx.array
    window_first: mx.array
    window_rows: mx.array
    count: int
    windows: int
    rows_per_window: int
    longest: int
    row_mask: mx.array | None = None
    mask_bits: mx.array | None = None


def window_bounds(row_seq: Sequence[int], rows_per_window: int) -> tuple[list[int], list[int]]:
    """First row and length of each window: runs of one context, cut at `rows_per_window`."""
    first: list[int] = []
    rows: list[int] = []
    for index, context in enumerate(row_seq):
        if first and rows[-1] < rows_per_window and row_seq[first[-1]] == context and first[-1] + rows[-1] == index:
            rows[-1] += 1
        else:
            first.append(index)
            rows.append(1)
    return first, rows


def padded_tables(tables: Sequence[Sequence[int]]) -> mx.array:
    """Block tables as lines of equal length, int32 [contexts, max pages], padded to a small buffer."""
    width = max(-(-SMALLEST_BUFFER // len(tables)), *(len(table) for table in tables))
    lines = np.zeros((len(tables), width), dtype=np.int32)
    for line, table in enumerate(tables):
        lines[line, : len(table)] = table
    return mx.array(lines)


def packed_masks(masks: Sequence[np.ndarray], longest: int) -> mx.array:
    """Boolean key masks as words, uint32 [masks, words], padded to a small buffer. Shorter masks end in False."""
    words = max(-(-longest // 32), -(-SMALLEST_BUFFER // max(1, len(masks))))
    dense = np.zeros((len(masks), words * 32), dtype=np.uint8)
    for line, mask in enumerate(masks):
        dense[line, : len(mask)] = mask
    return mx.array(np.packbits(dense, axis=1, bitorder="little").view(np.uint32))


def attention_rows(
    tables: Sequence[Sequence[int]],
    row_seq: Sequence[int],
    row_len: Sequence[int],
    *,
    masks: Sequence[np.ndarray | None] | None = None,
    rows_per_window: int = 1,
) -> AttentionRows:
    """Builds the rows from plain values. `masks` has a boolean mask over keys for each row, or None.

    Raises InvalidArgumentError for lengths that differ or a table index out of range.
    """
    require(len(row_seq) == len(row_len) > 0, "attention rows", f"{len(row_seq)} contexts for {len(row_len)} lengths")
    require(max(row_seq) < len(tables), "attention rows", f"row of context {max(row_seq)}, {len(tables)} tables")
    first, rows = window_bounds(row_seq, rows_per_window)
    longest = max(row_len)
    given = [mask for mask in masks or [] if mask is not None]
    lines = iter(range(len(given)))
    return AttentionRows(
        tables=padded_tables(tables),
        row_seq=padded(row_seq),
        row_len=padded(row_len),
        window_first=padded(first),
        window_rows=padded(rows),
        count=len(row_len),
        windows=len(first),
        rows_per_window=rows_per_window,
        longest=longest,
        row_mask=padded([-1 if mask is None else next(lines) for mask in masks])
        if masks is not None and given
        else None,
        mask_bits=packed_masks(given, round_up(longest, 32)) if given else None,
    )
