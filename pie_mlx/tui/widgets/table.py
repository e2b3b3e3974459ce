"""A table of items under fixed columns. Only visible rows are formatted."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from textual import events
from textual.message import Message

from pie_mlx.tui.model.text_filter import text_filter
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece, fitted, width_of

Item = TypeVar("Item")
HEADER_LINES = 1

Cell = Piece | Sequence[Piece] | str


def _pieces(cell: Cell) -> Sequence[Piece]:
    return [Piece(cell)] if isinstance(cell, str) else [cell] if isinstance(cell, Piece) else cell


@dataclass(frozen=True)
class Column(Generic[Item]):
    """`width` 0 takes `share` parts of the remaining width. Shown in tables of `show_from` cells or more; `value` gives
    the sort key."""

    title: str
    width: int
    cell: Callable[[Item], Cell]
    value: Callable[[Item], Any] | None = None
    align: str = "left"
    show_from: int = 0
    descending: bool = False
    share: int = 1


class Table(Canvas, Generic[Item], can_focus=True):
    """`key` identifies an item: once the user has chosen one, the selection stays on it when the order changes. Until
    then the first item is selected, so that the table stays at its top."""

    class Opened(Message):
        """The selected item is to be opened."""

        def __init__(self, table: "Table[Any]", key: str) -> None:
            super().__init__()
            self.table, self.key = table, key

    class Selected(Message):
        """Another item is selected."""

        def __init__(self, table: "Table[Any]", key: str) -> None:
            super().__init__()
            self.table, self.key = table, key

    def __init__(
        self,
        columns: Sequence[Column[Item]],
        key: Callable[[Item], str],
        *,
        title: str,
        id: str,
        empty: str = "",
        matches: Callable[[Item], str] | None = None,
    ) -> None:
        """`empty` is shown if there are no rows; `matches` gives the text that a filter searches."""
        super().__init__(id=id, classes="panel")
        self.name_border(title)
        self.empty = empty
        self.sort: int | None = None
        self.reverse = False
        self.filter = ""
        self.follow = False
        self.selected = ""
        self._chosen = False
        self._columns, self._key, self._matches = columns, key, matches
        self._items: Sequence[Item] = ()
        self._rows: list[Item] = []
        self._first = 0
        self._lines_of: dict[str, tuple[Item, object, Line]] = {}

    @property
    def rows(self) -> Sequence[Item]:
        """The rows that pass the filter, in order."""
        return self._rows

    @property
    def selected_item(self) -> Item | None:
        place = self._place()
        return self._rows[place] if place is not None else None

    def show(self, items: Sequence[Item]) -> None:
        """Replace the items."""
        self._items = items
        self._arrange()
        self.repaint()

    def set_filter(self, text: str) -> None:
        self.filter = text
        self.show(self._items)

    def sort_by(self, step: int) -> None:
        """Sort by the next sortable column, or the previous one; after the last column comes the original order."""
        choices: list[int | None] = [None, *(n for n, column in enumerate(self._columns) if column.value)]
        self.sort = choices[(choices.index(self.sort) + step) % len(choices)]
        self.reverse = self.sort is not None and self._columns[self.sort].descending
        self.show(self._items)

    def turn_round(self) -> None:
        self.reverse = not self.reverse
        self.show(self._items)

    def select(self, key: str) -> None:
        """Select an item and scroll to it."""
        self.selected, self._chosen = key, True
        self.repaint()

    # Keys and mouse.

    def on_key(self, event: events.Key) -> None:
        steps = {"up": -1, "down": 1, "pageup": -self._height(), "pagedown": self._height()}
        if event.key in steps:
            self._move(steps[event.key])
        elif event.key in ("home", "end"):
            self._move(-len(self._rows) if event.key == "home" else len(self._rows))
        else:
            return
        event.stop()
        event.prevent_default()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self._move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self._move(-1)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y == 0:
            self._click_header(offset.x)
            return
        place = self._first + offset.y - HEADER_LINES
        if place < len(self._rows):
            self._select_place(place)
            if event.chain == 2:
                self.post_message(self.Opened(self, self.selected))

    def open_selected(self) -> None:
        if self._place() is not None:
            self.post_message(self.Opened(self, self.selected))

    # Drawing.

    def paint(self, width: int, height: int) -> list[Line]:
        room = max(0, height - HEADER_LINES)
        self._scroll(room)
        shown = self._rows[self._first : self._first + room]
        bar = len(self._rows) > room
        columns = self._shown_columns(width - bar)
        lines: list[Line] = [self._header(columns)]
        lines += self._lines_for(shown, columns)
        if not self._rows:
            text = f"nothing matches '{self.filter}'" if self.filter and self._items else self.empty
            lines.append([Piece(f" {text}", "muted")])
        if bar:
            lines = self._with_bar(lines, room, width)
        return lines

    def _lines_for(self, shown: Sequence[Item], columns: list[tuple[Column[Item], int]]) -> list[Line]:
        """The lines of items; unchanged items reuse their previous lines."""
        before, self._lines_of = self._lines_of, {}
        lines: list[Line] = []
        for item in shown:
            key = self._key(item)
            drawn = (columns, key == self.selected)
            known = before.get(key)
            fresh = known is None or known[1] != drawn or known[0] != item
            line = self._line_of(item, columns) if known is None or fresh else known[2]
            self._lines_of[key] = item, drawn, line
            lines.append(line)
        return lines

    def _line_of(self, item: Item, columns: list[tuple[Column[Item], int]]) -> Line:
        """The line of an item in few pieces, because each costs time when it is drawn."""
        pieces: list[Piece] = []
        space = 0
        for column, width in columns:
            cell = _pieces(column.cell(item))
            gap = width - width_of(cell)
            if gap < 0:
                cell, gap = fitted(cell, width), 0
            space += gap if column.align == "right" else 0
            if space:
                pieces.append(Piece(" " * space))
            pieces += cell
            space = 1 if column.align == "right" else gap + 1
        if self._key(item) == self.selected:
            return [Piece(text, f"{tone}^") for text, tone in (*pieces, Piece(" " * space))]
        return pieces

    def _header(self, columns: list[tuple[Column[Item], int]]) -> Line:
        pieces: list[Piece] = []
        for column, width in columns:
            arrow = ""
            if self.sort is not None and self._columns[self.sort] is column:
                arrow = "▾" if self.reverse else "▴"
            title = f"{arrow}{column.title}" if column.align == "right" else f"{column.title}{arrow}"
            pieces += [*fitted([Piece(title, "main" if arrow else "muted")], width, column.align), Piece(" ")]
        return pieces

    def _with_bar(self, lines: list[Line], room: int, width: int) -> list[Line]:
        """The lines with a thin scroll bar on the right."""
        size = max(1, room * room // len(self._rows))
        top = (room - size) * self._first // max(1, len(self._rows) - room)
        marked: list[Line] = []
        for y, line in enumerate(lines):
            inside = top <= y - HEADER_LINES < top + size
            mark = Piece(" ") if y < HEADER_LINES else Piece("┃" if inside else "│", "muted" if inside else "faint")
            marked.append([*fitted(line, width - 1), mark])
        return marked

    def _shown_columns(self, width: int) -> list[tuple[Column[Item], int]]:
        shown = [column for column in self._columns if width >= column.show_from]
        taken = sum(column.width + 1 for column in shown)
        shares = sum(column.share for column in shown if not column.width)
        left = max(0, width - taken)
        return [(column, column.width or left * column.share // shares) for column in shown]

    # Order and selection.

    def _arrange(self) -> None:
        rows = list(self._items)
        if self.filter and self._matches is not None:
            keeps = text_filter(self.filter)
            rows = [item for item in rows if keeps(self._matches(item))]
        if self.sort is not None and (value := self._columns[self.sort].value):
            rows.sort(key=value, reverse=self.reverse)
        elif self.reverse:
            rows.reverse()
        self._rows = rows
        if rows and self.follow:
            self.selected = self._key(rows[-1])
        elif rows and not self._chosen:
            self.selected = self._key(rows[0])
        elif rows and self._place() is None:
            self.selected = self._key(rows[min(self._first, len(rows) - 1)])

    def _place(self) -> int | None:
        return next((place for place, item in enumerate(self._rows) if self._key(item) == self.selected), None)

    def _height(self) -> int:
        return max(1, self.size.height - HEADER_LINES)

    def _scroll(self, room: int) -> None:
        place = self._place() or 0
        self._first = max(0, min(self._first, place, len(self._rows) - room), place - room + 1)

    def _move(self, steps: int) -> None:
        if self._rows:
            self.follow = False
            self._select_place(min(len(self._rows) - 1, max(0, (self._place() or 0) + steps)))

    def _select_place(self, place: int) -> None:
        self.selected, self._chosen = self._key(self._rows[place]), True
        self.post_message(self.Selected(self, self.selected))
        self.repaint()

    def _click_header(self, x: int) -> None:
        start = 0
        for column, width in self._shown_columns(self.size.width):
            if start <= x <= start + width and column.value:
                again = self.sort is not None and self._columns[self.sort] is column
                self.sort = self._columns.index(column)
                self.reverse = not self.reverse if again else column.descending
                self.show(self._items)
            start += width + 1
