"""The timeline of a program: a lane for each context."""

from collections.abc import Sequence
from typing import NamedTuple

from pie_mlx.tui.model.context import Span
from pie_mlx.tui.model.text import age
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece, fitted

MARKS = {
    "forward": ("█", "good"),
    "waiting": ("▒", "warn"),
    "suspended": ("░", "accent"),
    "restoring": ("▚", "main"),
    "tool": ("▓", "owner4"),
}
LABEL_CELLS = 9


class Lane(NamedTuple):
    """A context that lived from `start` to `end`."""

    name: str
    start: float
    end: float
    spans: Sequence[Span]


class Timeline(Canvas):
    """The latest is on the right; the program's own code is a thin line."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.name_border("Timeline")
        self._lanes: Sequence[Lane] = ()
        self._start = self._end = 0.0

    def show(self, lanes: Sequence[Lane], start: float, end: float) -> None:
        self._lanes, self._start, self._end = lanes, start, max(end, start + 1e-6)
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        cells = width - LABEL_CELLS
        room = max(0, height - 2)
        lanes = self._lanes[-room:] if room else ()
        lines: list[Line] = [
            [*fitted([Piece(lane.name, "muted")], LABEL_CELLS), *self._lane(lane, cells)] for lane in lanes
        ]
        hidden = len(self._lanes) - len(lanes)
        if hidden and lines:
            lines[0] = [Piece(f"{hidden + 1} more lanes", "muted")]
        span = age(self._end - self._start)
        axis = [Piece(" " * LABEL_CELLS), *fitted([Piece(f"-{span}", "muted")], cells - 3), Piece("now", "muted")]
        return [*lines, axis, _key()]

    def _lane(self, lane: Lane, cells: int) -> list[Piece]:
        if cells < 1:
            return []
        each = (self._end - self._start) / cells
        marks = [Piece(" ")] * cells
        for cell in range(self._cell(lane.start, each, cells), self._cell(lane.end, each, cells) + 1):
            marks[min(cell, cells - 1)] = Piece("─", "faint")
        for span in lane.spans:
            if span.end >= self._start:
                mark = Piece(*MARKS[span.kind])
                for cell in range(self._cell(span.start, each, cells), self._cell(span.end, each, cells) + 1):
                    marks[min(cell, cells - 1)] = mark
        return marks

    def _cell(self, seconds: float, each: float, cells: int) -> int:
        return min(cells - 1, max(0, int((seconds - self._start) / each)))


def _key() -> Line:
    pieces = [Piece(" " * LABEL_CELLS)]
    for kind, (mark, tone) in MARKS.items():
        pieces += [Piece(mark, tone), Piece(f" {kind}   ", "muted")]
    return [*pieces, Piece("─", "faint"), Piece(" its own code", "muted")]
