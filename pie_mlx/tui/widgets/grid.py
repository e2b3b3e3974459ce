"""Figures under headings, in columns of fixed width."""

from collections.abc import Sequence

from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece, fitted


class Grid(Canvas, can_focus=True):
    """`columns` are headings and widths. The first column is on the left, the others end where their headings do. With
    the focus it can be given the whole screen, where a small terminal cuts it off."""

    def __init__(self, title: str, columns: Sequence[tuple[str, int]], *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.name_border(title)
        self._columns = columns
        self.rows: Sequence[Sequence[Piece]] = ()

    def show(self, rows: Sequence[Sequence[Piece]], subtitle: str = "") -> None:
        self.rows = rows
        self.name_border(subtitle=subtitle)
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        heading = [Piece(title, "muted") for title, _ in self._columns]
        return [self._line(cells) for cells in (heading, *self.rows)]

    def _line(self, cells: Sequence[Piece]) -> Line:
        aligned = ["left", *(["right"] * (len(self._columns) - 1))]
        parts = zip(cells, self._columns, aligned, strict=True)
        return [piece for cell, (_, width), align in parts for piece in fitted([cell], width, align)]
