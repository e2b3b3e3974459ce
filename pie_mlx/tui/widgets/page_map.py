"""The pool as a field of cells, one colour for each owner."""

from collections.abc import Sequence
from itertools import groupby
from typing import ClassVar

from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message

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


Runs = Sequence[tuple[int, int]]
"""Physical pages in order, each run a first page and a number."""


class PageMap(Canvas, can_focus=True):
    """`show` takes pages by owner; cells are in the order of the shares, not of the memory. `Pointed` names the cell
    under the pointer or the cursor; its tooltip is the text of its share until `explain` gives a better one."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("left", "move(-1)", "The cell before"),
        ("right", "move(1)", "The next cell"),
        ("up", "line(-1)", "A line up"),
        ("down", "line(1)", "A line down"),
    ]

    class Pointed(Message):
        """A cell, whose first page is the physical `page`, is under the pointer, or under the cursor."""

        def __init__(self, page: int) -> None:
            super().__init__()
            self.page = page

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.empty = ""
        self._runs: Runs = ()
        self._pages_per_cell = 1
        self._cursor = 0
        self._shares: Sequence[Share] = ()
        self.legend: Sequence[Share] = ()
        self._cells: list[Share] = []
        self._row_cells, self._cell_lines = 1, 1

    def show(self, shares: Sequence[Share], legend: Sequence[Share], runs: Runs = ()) -> None:
        """`runs` are the physical pages in the order of the shares, where they are known."""
        self._runs = runs
        self._shares = [share for share in shares if share.amount]
        self.legend = [share for share in legend if share.amount]
        self._name_scale()
        self.repaint()

    def on_resize(self) -> None:
        self._name_scale()

    def paint(self, width: int, height: int) -> list[Line]:
        if not self._shares:
            return [[Piece(self.empty or "no engine has said how many pages it has", "muted")]]
        self._scale(width, height)
        columns = self._row_cells
        self._cells = cells = cells_of(self._shares, self._pages_per_cell)
        self._cursor = min(self._cursor, len(cells) - 1)
        if self.has_focus and self._runs:
            cells = [*cells[: self._cursor], _marked(cells[self._cursor]), *cells[self._cursor + 1 :]]
        lines = [
            line
            for start in range(0, len(cells), columns)
            for line in cell_rows(cells[start : start + columns], self._cell_lines)
        ]
        return [*lines, *legends(self.legend, width, LEGEND_LINES)]

    def _scale(self, width: int, height: int) -> None:
        """Choose how large cells are, and how many pages each stands for."""
        total, rows = sum(share.amount for share in self._shares), max(1, height - LEGEND_LINES)
        self._cell_lines = next((size for size in LARGEST_CELL if total <= (width // (2 * size)) * (rows // size)), 1)
        self._row_cells = max(1, width // (2 * self._cell_lines))
        self._pages_per_cell = max(1, -(-total // (self._row_cells * (rows // self._cell_lines))))

    def _name_scale(self) -> None:
        """Say it in the border, which is drawn before the cells."""
        if not self._shares:
            self.name_border(subtitle="")
        elif self.content_size.width:
            self._scale(*self.content_size)
            each = "1 cell = 1 page" if self._pages_per_cell == 1 else f"1 cell = {self._pages_per_cell} pages"
            self.name_border(subtitle=each)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Say what is under the pointer."""
        offset = event.get_content_offset(self)
        if offset is not None:
            self.explain(self.text_at(offset.x, offset.y))
            self._point(self._place_at(offset.x, offset.y))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        place = None if offset is None else self._place_at(offset.x, offset.y)
        if place is not None:
            self._put(place)

    def on_focus(self) -> None:
        self._put(self._cursor)

    def on_blur(self) -> None:
        self.repaint()

    def explain(self, text: str) -> None:
        """Show a text at the pointer."""
        self.tooltip = Text(text) if text else None

    def text_at(self, x: int, y: int) -> str:
        """The text of the share of a cell; empty where there is none."""
        place = self._place_at(x, y)
        return "" if place is None else self._cells[place].text

    def action_move(self, by: int) -> None:
        self._put(self._cursor + by)

    def action_line(self, by: int) -> None:
        self._put(self._cursor + by * self._row_cells)

    def _put(self, place: int) -> None:
        """Move the cursor."""
        if 0 <= place < len(self._cells):
            self._cursor = place
            self.repaint()
            self._point(place)

    def _point(self, place: int | None) -> None:
        left = 0 if place is None else place * self._pages_per_cell
        for first, count in () if place is None else self._runs:
            if left < count:
                self.post_message(self.Pointed(first + left))
                break
            left -= count

    def _place_at(self, x: int, y: int) -> int | None:
        column, row = x // (2 * self._cell_lines), y // self._cell_lines
        place = row * self._row_cells + column
        return place if column < self._row_cells and place < len(self._cells) else None


def _marked(share: Share) -> Share:
    """A cell under the cursor."""
    return share._replace(tone=f"{share.tone}^")


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
    return "▨ " if hatched else "· " if tone.startswith("faint") else "■ "


def _large(size: int, hatched: bool, last: bool) -> str:
    mark = "░" if hatched and last else "▒" if hatched else "▀" if last else "█"
    return mark * (2 * size - 1) + " "
