"""A bar divided into shares of a whole."""

from collections.abc import Sequence
from typing import NamedTuple

from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece, width_of


class Share(NamedTuple):
    """`text` says more about it; `hatched` for what several hold."""

    name: str
    amount: int
    tone: str
    hatched: bool = False
    text: str = ""


def bar(shares: Sequence[Share], width: int, mark: str = "█") -> list[Piece]:
    """Exactly `width` cells; each share above 0 gets at least one, if there is room."""
    total = sum(share.amount for share in shares) or 1
    cells = [share.amount * width // total for share in shares]
    by_rest = sorted(range(len(shares)), key=lambda n: -(shares[n].amount * width % total))
    for place in by_rest[: width - sum(cells)]:
        cells[place] += 1
    for place, share in enumerate(shares):
        if share.amount and not cells[place] and max(cells) > 1:
            cells[cells.index(max(cells))] -= 1
            cells[place] = 1
    return [Piece(mark * count, share.tone) for share, count in zip(shares, cells, strict=True) if count]


class ShareBar(Canvas):
    """The bar, and below it the legend."""

    def __init__(self, title: str, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.name_border(title)
        self.shares: Sequence[Share] = ()

    def show(self, shares: Sequence[Share]) -> None:
        self.shares = shares
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        shown = bar(self.shares, width)
        if height < 2:
            return [shown]
        return [shown] * (height - 1) + legends(self.shares, width, 1)


def legends(shares: Sequence[Share], width: int, lines: int) -> list[Line]:
    """The legend, as much as fits."""
    filled: list[list[Piece]] = [[]]
    for share in shares:
        entry = [
            Piece("▨ " if share.hatched else "■ ", share.tone),
            Piece(f"{share.name} ", "muted"),
            Piece(f"{share.amount:,}   "),
        ]
        if width_of([*filled[-1], *entry]) - 3 > width:
            if len(filled) == lines:
                break
            filled.append([])
        filled[-1] += entry
    return [*filled, *([[]] * (lines - len(filled)))]
