"""The pool as a field of cells, one colour for each owner."""

from collections.abc import Sequence
from itertools import groupby

from rich.text import Text
from textual import events

from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece
from pie_mlx.tui.widgets.share_bar import Share, legends

LEGEND_LINES = 2
LARGEST_CELL = (4, 3, 2)


def cells_of(shares: Sequence[Share], pages_per_cell: int) -> list[Share]:
    """The share of each cell. A cell of several pages has that of the first one."""
    cells: list[Share] = []
    held = 0
    for share in shares:
        held += share.amount
        cells += [share] * (-(-held // pages_per_cell) - len(cells))
    return cells


class PageMap(Canvas):
    """`show` takes pages by owner; cells are in the order of the shares, not of the memory. The pointer over a cell
    shows the text of its share."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self._shares: Sequence[Share] = ()
        self._legend: Sequence[Share] = ()
        self._cells: list[Share] = []
        self._row_cells, self._cell_lines = 1, 1

    def show(self, shares: Sequence[Share], legend: Sequence[Share]) -> None:
        self._shares = [share for share in shares if share.amount]
        self._legend = [share for share in legend if share.amount]
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        total = sum(share.amount for share in self._shares)
        if not total:
            return [[Piece("no engine has said how many pages it has", "muted")]]
        rows = max(1, height - LEGEND_LINES)
        self._cell_lines = next((size for size in LARGEST_CELL if total <= (width // (2 * size)) * (rows // size)), 1)
        self._row_cells = columns = max(1, width // (2 * self._cell_lines))
        pages_per_cell = max(1, -(-total // (columns * (rows // self._cell_lines))))
        each = "1 cell = 1 page" if pages_per_cell == 1 else f"1 cell = {pages_per_cell} pages"
        self.name_border(subtitle=each)
        self._cells = cells = cells_of(self._shares, pages_per_cell)
        lines = [
            line
            for start in range(0, len(cells), columns)
            for line in cell_rows(cells[start : start + columns], self._cell_lines)
        ]
        return [*lines, *legends(self._legend, width, LEGEND_LINES)]

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Say what is under the pointer."""
        offset = event.get_content_offset(self)
        if offset is not None:
            text = self.text_at(offset.x, offset.y)
            self.tooltip = Text(text) if text else None

    def text_at(self, x: int, y: int) -> str:
        """The text of the share of a cell; empty where there is none."""
        column, row = x // (2 * self._cell_lines), y // self._cell_lines
        place = row * self._row_cells + column
        return self._cells[place].text if column < self._row_cells and place < len(self._cells) else ""


def cell_rows(cells: Sequence[Share], size: int) -> list[Line]:
    """A row of cells, `size` lines high and twice as wide, with a gap around each; what several hold is hatched."""
    runs = [(look, len(list(run))) for look, run in groupby(cells, key=lambda share: (share.tone, share.hatched))]
    if size == 1:
        return [[Piece(_small(tone, hatched) * count, tone) for (tone, hatched), count in runs]]
    lines: list[Line] = []
    for y in range(size):
        line = [Piece(_large(size, hatched, y == size - 1) * count, tone) for (tone, hatched), count in runs]
        lines.append(line)
    return lines


def _small(tone: str, hatched: bool) -> str:
    return "▨ " if hatched else "· " if tone == "faint" else "■ "


def _large(size: int, hatched: bool, last: bool) -> str:
    mark = "░" if hatched and last else "▒" if hatched else "▀" if last else "█"
    return mark * (2 * size - 1) + " "
