"""Cuts a step into forward passes over rows of equal length, for layers that need them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pie_mlx.engine.model.step import Segment, StepInput


@dataclass(frozen=True, slots=True)
class _Piece:
    """Rows `start` .. `start + count` of the step, of one context, at consecutive positions."""

    segment: Segment
    start: int
    count: int

    @property
    def is_first(self) -> bool:
        """Whether the context begins with this piece."""
        return self.start == self.segment.start and self.segment.kv_length == self.segment.count


def equal_length_batches(step: StepInput, *, alone: bool) -> list[tuple[StepInput, Sequence[int]]]:
    """The step as batches over rows of equal length, or over one context each; a context's pieces stay in order. With
    each batch come the places of its logits among those of the step."""
    queues = [_pieces(step, segment) for segment in step.segments]
    batches: list[tuple[StepInput, Sequence[int]]] = []
    while any(queues):
        heads = [queue[0] for queue in queues if queue]
        size = heads[0].count, heads[0].is_first
        chosen = heads[:1] if alone else [piece for piece in heads if (piece.count, piece.is_first) == size]
        for queue in queues:
            if queue and queue[0] in chosen:
                queue.pop(0)
        batches.append(_batch(step, chosen))
    return batches


def _pieces(step: StepInput, segment: Segment) -> list[_Piece]:
    pieces: list[_Piece] = []
    start = segment.start
    end = segment.start + segment.count
    for row in range(start + 1, end + 1):
        if row == end or step.positions[row] != step.positions[row - 1] + 1:
            pieces.append(_Piece(segment, start, row - start))
            start = row
    return pieces


def _batch(step: StepInput, pieces: Sequence[_Piece]) -> tuple[StepInput, Sequence[int]]:
    rows = [row for piece in pieces for row in range(piece.start, piece.start + piece.count)]
    size, own = pieces[0].count, set(rows)
    segments = [_part(piece, index * size) for index, piece in enumerate(pieces)]
    places = [place for place, row in enumerate(step.logit_rows) if row in own]
    return step.arranged(rows, segments, row_tokens=size), places


def _part(piece: _Piece, start: int) -> Segment:
    """The piece as a segment of its own, whose rows begin at `start`."""
    segment, begin = piece.segment, piece.start - piece.segment.start
    later = segment.count - begin - piece.count
    first, scored = segment.scored
    scored_first, scored_end = max(0, first - begin), min(piece.count, first + scored - begin)
    return replace(
        segment,
        start=start,
        count=piece.count,
        kv_length=segment.kv_length - later,
        masks=None if segment.masks is None else segment.masks[begin : begin + piece.count],
        drafts=0,
        scored=(scored_first, max(0, scored_end - scored_first)),
    )
