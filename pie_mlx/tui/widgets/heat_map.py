"""A field of cells: time from left to right, durations from bottom to top, shade by count."""

import math
from collections.abc import Callable

from pie_mlx.figures import SLOT_SECONDS, SLOTS
from pie_mlx.tui.model.text import age, duration
from pie_mlx.tui.model.views.latency import Heat
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece, fitted

MARGIN_CELLS = 8
SHADES = (("░", 45), ("▒", 65), ("▓", 85), ("█", 100))
"""A mark and its strength, from few to most; marks alone are enough where a terminal has no colours."""


class HeatMap(Canvas):
    """`show` takes what makes the counts for a number of columns and rows, as only painting knows the room."""

    def __init__(self, title: str, tone: str, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.name_border(title)
        self._tone = tone
        self.heat: Callable[[int, int], Heat] = lambda columns, rows: Heat()

    def show(self, heat: Callable[[int, int], Heat], subtitle: str) -> None:
        self.heat = heat
        self.name_border(subtitle=subtitle)
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        columns, rows = min(SLOTS, width - MARGIN_CELLS), height - 1
        heat = self.heat(columns, rows) if columns > 0 and rows > 0 else Heat()
        if not heat.counts:
            return [[Piece("no tokens in the last quarter of an hour", "muted")]]
        each = (width - MARGIN_CELLS) // columns
        most = max(max(row) for row in heat.counts)
        lines: list[Line] = [[]] * (rows - len(heat.counts))
        for top, row in zip(heat.tops, heat.counts, strict=True):
            label = Piece(f"{duration(top):>{MARGIN_CELLS - 1}} ", "muted")
            lines.append([label, *(self._cell(count, most, each) for count in row)])
        return [*lines, _axis(columns, each)]

    def _cell(self, count: int, most: int, cells: int) -> Piece:
        """Shades by the logarithm, so that a single slow token among thousands is seen."""
        if not count:
            return Piece("·" + " " * (cells - 1) if cells > 1 else "·", "faint")
        part = math.log(count + 1) / math.log(most + 1)
        mark, strength = SHADES[min(len(SHADES) - 1, int(part * len(SHADES)))]
        return Piece(mark * cells, f"{self._tone}~{strength}")


def _axis(columns: int, cells: int) -> Line:
    begin = Piece(f"-{age(columns * SLOT_SECONDS)}", "muted")
    return [Piece(" " * MARGIN_CELLS), *fitted([begin], columns * cells - 3), Piece("now", "muted")]
