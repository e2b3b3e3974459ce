"""Stacks the additions of several adapters, so that one product serves rows of different adapters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import mlx.core as mx

from pie_mlx.engine.model.adapters.content import AdapterUse, LowRank
from pie_mlx.engine.model.adapters.targets import Target

Additions = Mapping[str, LowRank]


@dataclass(frozen=True, slots=True)
class Stack:
    """`downs` [slots, .., in, rank] and `ups` [slots, .., rank, out], scales included. Slot 0 is zero.

    `rank` is a power of two, as the kernel requires. Members of a smaller rank are padded with zeros, which change no
    sum.
    """

    target: Target
    downs: mx.array
    ups: mx.array

    @property
    def rank(self) -> int:
        return int(self.downs.shape[-1])


@dataclass(frozen=True, slots=True)
class StackSet:
    """Slots by adapter use, from 1; stacks by path."""

    slots: Mapping[AdapterUse, int]
    stacks: Mapping[str, Stack]

    @property
    def size_bytes(self) -> int:
        return sum(stack.downs.nbytes + stack.ups.nbytes for stack in self.stacks.values())


EMPTY = StackSet({}, {})


def stack_up(
    members: Sequence[tuple[AdapterUse, Additions]], targets: Mapping[str, Target], dtype: mx.Dtype
) -> StackSet:
    """Stacks the members in slots 1, 2, ..., in `dtype`; not yet evaluated."""
    paths = sorted({path for _, additions in members for path in additions})
    parts = [additions for _, additions in members]
    stacks = {path: _stack(targets[path], [part.get(path) for part in parts], dtype) for path in paths}
    return StackSet({use: place for place, (use, _) in enumerate(members, 1)}, stacks)


def _stack(target: Target, pairs: Sequence[LowRank | None], dtype: mx.Dtype) -> Stack:
    rank = 1 << (max(pair.rank for pair in pairs if pair is not None) - 1).bit_length()
    downs = [mx.zeros(target.down_shape(rank), dtype)]
    ups = [mx.zeros(target.up_shape(rank), dtype)]
    for pair in pairs:
        downs.append(downs[0] if pair is None else _padded(pair.down, -1, rank).astype(dtype))
        ups.append(ups[0] if pair is None else _padded(pair.up * pair.scale, -2, rank).astype(dtype))
    return Stack(target, mx.stack(downs), mx.stack(ups))


def _padded(matrix: mx.array, axis: int, rank: int) -> mx.array:
    missing = rank - matrix.shape[axis]
    if not missing:
        return matrix
    widths = [(0, 0)] * matrix.ndim
    widths[axis] = (0, missing)
    return mx.pad(matrix, widths)
