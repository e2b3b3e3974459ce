"""The columns of a table: their cells, their order, and the room that each gets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pie_mlx.tui.widgets.canvas import Piece

Shown = TypeVar("Shown", contravariant=True)

Cell = Piece | Sequence[Piece] | str

FREE_CELLS = 32
"""What the columns without a width keep before the others grow."""


def pieces_of(cell: Cell) -> Sequence[Piece]:
    """A cell as pieces."""
    return [Piece(cell)] if isinstance(cell, str) else [cell] if isinstance(cell, Piece) else cell


@dataclass(frozen=True)
class Column(Generic[Shown]):
    """`width` 0 takes `share` parts of the remaining width; others grow into it, up to `most` cells. Shown in tables of
    `show_from` cells or more; `value` gives the sort key, which is the text of the cell if there is none."""

    title: str
    width: int
    cell: Callable[[Shown], Cell]
    value: Callable[[Shown], Any] | None = None
    align: str = "left"
    show_from: int = 0
    descending: bool = False
    share: int = 1
    most: int = 0

    def text(self, item: Shown) -> str:
        """The cell without its tones."""
        return "".join(piece.text for piece in pieces_of(self.cell(item)))

    def order(self, item: Shown) -> Any:
        """What a table sorts by."""
        return self.value(item) if self.value is not None else self.text(item).casefold()


def laid_out(columns: Sequence[Column[Any]], width: int) -> list[tuple[Column[Any], int]]:
    """The columns that fit a table of `width` cells, each with its room."""
    shown = [column for column in columns if width >= column.show_from]
    shares = sum(column.share for column in shown if not column.width)
    left = max(0, width - sum(column.width + 1 for column in shown))
    rooms = {id(column): column.width for column in shown}
    growing = sorted((column for column in shown if column.most > column.width), key=lambda each: each.most)
    for place, column in enumerate(growing):
        free = max(0, left - FREE_CELLS * shares)
        more = min(column.most - column.width, free // (len(growing) - place))
        rooms[id(column)] += more
        left -= more
    return [(column, rooms[id(column)] or left * column.share // shares) for column in shown]
