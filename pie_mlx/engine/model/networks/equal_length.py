"""Cuts a step into forward passes: one for token rows, several where rows must be of equal length."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import mlx.core as mx

from pie_mlx.engine.model.networks.mixers import RowGroup
from pie_mlx.engine.model.step import AdapterUse, Segment, StepInput
from pie_mlx.metal.arrays import integers


@dataclass(frozen=True, slots=True)
class Wave:
    """One forward pass over `shape` (rows, tokens per row).

    `offsets` are the first positions of the rows; `logit_rows` index the flattened tokens, `logit_order` says which
    of the step's logits each is; `groups` are the rows that recurrent layers compute at once. `adapters` as in
    StepInput.
    """

    shape: tuple[int, int]
    tokens: Sequence[int] | mx.array
    offsets: Sequence[int]
    slots: Sequence[int]
    segments: Sequence[Segment]
    groups: Sequence[RowGroup]
    logit_rows: Sequence[int]
    logit_order: Sequence[int]
    adapters: Sequence[AdapterUse] | None = None


def token_rows(step: StepInput, *, recurrent: bool) -> Wave:
    """The whole step as rows of one token; segments of one token come first, as the attention plan wants them.

    With `recurrent` layers those that they compute at once stand side by side.
    """
    ordered = sorted(step.segments, key=_group_of if recurrent else lambda segment: segment.count > 1)
    if ordered == list(step.segments):
        segments, rows = ordered, list(range(len(step.tokens)))
    else:
        rows = [row for segment in ordered for row in range(segment.start, segment.start + segment.count)]
        segments = _restarted(ordered)
    place = {row: index for index, row in enumerate(rows)}
    return Wave(
        shape=(len(rows), 1),
        tokens=_taken(step.tokens, rows),
        offsets=[step.positions[row] for row in rows],
        slots=[step.slots[row] for row in rows],
        segments=segments,
        groups=_groups(segments) if recurrent else (),
        logit_rows=[place[row] for row in step.logit_rows],
        logit_order=range(len(step.logit_rows)),
        adapters=None if step.adapters is None else [step.adapters[row] for row in rows],
    )


@dataclass(frozen=True, slots=True)
class _Piece:
    """Rows `start` .. `start + count` of the step, of one context, at consecutive positions."""

    segment: Segment
    start: int
    count: int

    @property
    def is_first(self) -> bool:
        """Whether its context begins with it."""
        return self.start == self.segment.start and self.segment.kv_length == self.segment.count


def waves(step: StepInput, *, alone: bool) -> list[Wave]:
    """The step as passes over rows of equal length, or over one context each; a context's pieces stay in order."""
    queues = [_pieces(step, segment) for segment in step.segments]
    parts: list[Wave] = []
    while any(queues):
        heads = [queue[0] for queue in queues if queue]
        size = heads[0].count, heads[0].is_first
        chosen = heads[:1] if alone else [piece for piece in heads if (piece.count, piece.is_first) == size]
        for queue in queues:
            if queue and queue[0] in chosen:
                queue.pop(0)
        parts.append(_wave(step, chosen))
    return parts


def _group_of(segment: Segment) -> tuple[int, bool]:
    """Segments that are alike in this are computed at once by recurrent layers."""
    return segment.count, segment.kv_length == segment.count


def _groups(segments: Sequence[Segment]) -> list[RowGroup]:
    """The groups of segments that stand side by side."""
    return [
        RowGroup(alike[0].start, tuple(segment.context for segment in alike), count, fresh)
        for (count, fresh), each in groupby(segments, key=_group_of)
        for alike in [list(each)]
    ]


def _pieces(step: StepInput, segment: Segment) -> list[_Piece]:
    pieces: list[_Piece] = []
    start = segment.start
    end = segment.start + segment.count
    for row in range(start + 1, end + 1):
        if row == end or step.positions[row] != step.positions[row - 1] + 1:
            pieces.append(_Piece(segment, start, row - start))
            start = row
    return pieces


def _wave(step: StepInput, pieces: Sequence[_Piece]) -> Wave:
    rows = [row for piece in pieces for row in range(piece.start, piece.start + piece.count)]
    place = {row: index for index, row in enumerate(rows)}
    wanted = [(place[row], order) for order, row in enumerate(step.logit_rows) if row in place]
    size = pieces[0].count
    segments = [_part(piece, index * size) for index, piece in enumerate(pieces)]
    return Wave(
        shape=(len(pieces), size),
        tokens=_taken(step.tokens, rows),
        offsets=[step.positions[piece.start] for piece in pieces],
        slots=[step.slots[row] for row in rows],
        segments=segments,
        groups=_groups(segments),
        logit_rows=[row for row, _ in wanted],
        logit_order=[order for _, order in wanted],
        adapters=None if step.adapters is None else [step.adapters[row] for row in rows],
    )


def _taken(tokens: Sequence[int] | mx.array, rows: Sequence[int]) -> Sequence[int] | mx.array:
    if isinstance(tokens, mx.array):
        return tokens[integers(rows)]
    return [tokens[row] for row in rows]


def _part(piece: _Piece, start: int) -> Segment:
    """The piece as a segment of its own, whose rows begin at `start`."""
    segment, begin = piece.segment, piece.start - piece.segment.start
    later = segment.count - begin - piece.count
    return replace(
        segment,
        start=start,
        count=piece.count,
        kv_length=segment.kv_length - later,
        masks=None if segment.masks is None else segment.masks[begin : begin + piece.count],
    )


def _restarted(segments: Sequence[Segment]) -> list[Segment]:
    starts: list[Segment] = []
    start = 0
    for segment in segments:
        starts.append(replace(segment, start=start))
        start += segment.count
    return starts
