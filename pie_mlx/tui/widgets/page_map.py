"""The pool as a field of cells, one colour for each owner."""

from collections.abc import Sequence
from itertools import groupby

from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece
from pie_mlx.tui.widgets.share_bar import Share, legends

LEGEND_LINES = 2
LARGEST_CELL = (4, 3, 2)


def cells_of(shares: Sequence[Share], pages_per_cell: int) -> list[str]:
    """A tone for each cell. A cell of several pages has the tone of the first one."""
    tones: list[str] = []
    held = 0
    for share in shares:
        held += share.amount
        tones += [share.tone] * (-(-held // pages_per_cell) - len(tones))
    return tones


class PageMap(Canvas):
    """`show` takes pages by owner; cells are in the order of the shares, not of the memory."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self._shares: Sequence[Share] = ()

    def show(self, shares: Sequence[Share]) -> None:
        self._shares = [share for share in shares if share.amount]
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        total = sum(share.amount for share in self._shares)
        if not total:
            return [[Piece("no engine has said how many pages it has", "muted")]]
        rows = max(1, height - LEGEND_LINES)
        size = next((size for size in LARGEST_CELL if total <= (width // (2 * size)) * (rows // size)), 1)
        columns = max(1, width // (2 * size))
        pages_per_cell = max(1, -(-total // (columns * (rows // size))))
        each = "1 cell = 1 page" if pages_per_cell == 1 else f"1 cell = {pages_per_cell} pages"
        self.name_border(subtitle=each)
        tones = cells_of(self._shares, pages_per_cell)
        lines = [
            line for start in range(0, len(tones), columns) for line in cell_rows(tones[start : start + columns], size)
        ]
        return [*lines, *legends(self._shares, width, LEGEND_LINES)]


def cell_rows(tones: Sequence[str], size: int) -> list[Line]:
    """A row of cells, `size` lines high and twice as wide, with a gap around each."""
    runs = [(tone, len(list(run))) for tone, run in groupby(tones)]
    if size == 1:
        return [[Piece(("· " if tone == "faint" else "■ ") * count, tone) for tone, count in runs]]
    whole, last = "█" * (2 * size - 1) + " ", "▀" * (2 * size - 1) + " "
    return [[Piece(mark * count, tone) for tone, count in runs] for mark in (*[whole] * (size - 1), last)]
