"""A row of figures, each with its name, its unit and a line below."""

from typing import NamedTuple

from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece, fitted


class Stat(NamedTuple):
    """`below` says more about it, in pieces."""

    name: str
    value: str
    unit: str
    tone: str
    below: tuple[Piece, ...] = ()


class StatRow(Canvas):
    """Figures side by side in columns of equal width."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._stats: tuple[Stat, ...] = ()

    def show(self, stats: tuple[Stat, ...]) -> None:
        self._stats = stats
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        each = width // max(1, len(self._stats))
        rows: tuple[list[Piece], ...] = ([], [], [])
        for stat in self._stats:
            rows[0].extend(fitted([Piece("▎", stat.tone), Piece(stat.name, "muted")], each))
            value = [Piece("▎", stat.tone), Piece(stat.value, "bright!"), Piece(f" {stat.unit}", "muted")]
            rows[1].extend(fitted(value, each))
            rows[2].extend(fitted([Piece("▎", stat.tone), *stat.below], each))
        return list(rows[:height])
