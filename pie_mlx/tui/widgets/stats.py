"""A row of figures, each with a name, a unit and a line below."""

from collections.abc import Sequence
from typing import NamedTuple

from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece, fitted, width_of


class Stat(NamedTuple):
    """`below` is the line with details, in pieces."""

    name: str
    value: str
    unit: str
    tone: str
    below: tuple[Piece, ...] = ()


class StatRow(Canvas):
    """Figures side by side, in columns of equal width if all fit."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.stats: tuple[Stat, ...] = ()

    def show(self, stats: tuple[Stat, ...]) -> None:
        self.stats = stats
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        blocks = [_lines(stat) for stat in self.stats]
        widths = column_widths([max(map(width_of, lines)) + 1 for lines in blocks], width)
        rows: tuple[list[Piece], ...] = ([], [], [])
        for lines, each in zip(blocks, widths, strict=True):
            for row, line in zip(rows, lines, strict=True):
                row.extend(fitted(line, each))
        return list(rows[:height])


def column_widths(needed: Sequence[int], width: int) -> list[int]:
    """Equal widths if all columns fit; else the widest columns are cut first."""
    most = max(most for most in range(width + 1) if sum(min(need, most) for need in needed) <= width)
    given = [min(need, most) for need in needed]
    least = max(least for least in range(width + 1) if sum(max(own, least) for own in given) <= width)
    return [max(own, least) for own in given]


def _lines(stat: Stat) -> tuple[Line, Line, Line]:
    bar = Piece("▎", stat.tone)
    value = [bar, Piece(stat.value, "bright!"), Piece(f" {stat.unit}" if stat.unit else "", "muted")]
    return [bar, Piece(stat.name, "muted")], value, [bar, *stat.below]
