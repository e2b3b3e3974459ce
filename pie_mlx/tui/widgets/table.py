"""A table of items under fixed columns. Only visible rows are formatted."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from textual import events
from textual.message import Message

from pie_mlx.tui.model.text_filter import text_filter
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece, fitted, width_of
from pie_mlx.tui.widgets.column import Column, laid_out, pieces_of

Item = TypeVar("Item")
HEADER_LINES = 1


class Table(Canvas, Generic[Item], can_focus=True):
    """`key` identifies an item: once the user has chosen one, the selection stays on it when the order changes. Until
    then the first item is selected, so that the table stays at its top."""

    class Opened(Message):
        """The selected item is to be opened."""

        def __init__(self, table: "Table[Any]", key: str) -> None:
            super().__init__()
            self.table, self.key = table, key

    class Sorted(Message):
        """The user has chosen another order."""

        def __init__(self, table: "Table[Any]") -> None:
            super().__init__()
            self.table = table

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
        """`empty` is shown if there are no rows; `matches` gives the text that a filter searches; else the cells."""
        super().__init__(id=id, classes="panel")
        self.empty = empty
        self.sort: int | None = None
        self.reverse = False
        self.filter = ""
        self.follow = False
        self.selected = ""
        self._chosen = False
        self.columns, self._key, self._matches = columns, key, matches or self._text
        self._subtitle = ""
        self._items: Sequence[Item] = ()
        self._rows: list[Item] = []
        self._first = 0
        self._lines_of: dict[str, tuple[Item, object, Line]] = {}
        self.name_border(title)

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
        self.name_border()
        self.repaint()

    def set_filter(self, text: str) -> None:
        self.filter = text
        self.show(self._items)

    @property
    def order(self) -> tuple[str, bool]:
        """The title of the column it is sorted by, empty for the order of its source, and whether that is reversed."""
        return self.columns[self.sort].title if self.sort is not None else "", self.reverse

    @property
    def is_in_source_order(self) -> bool:
        """Whether all items are shown in the order of their source, so that what depends on it makes sense."""
        return self.sort is None and not self.reverse and not self.filter

    def set_order(self, title: str, reverse: bool) -> None:
        """Sort as `order` says; a column that is not there changes nothing."""
        found = next((n for n, column in enumerate(self.columns) if title and column.title == title), None)
        if found is not None or not title:
            self.sort, self.reverse = found, reverse
            self.show(self._items)

    def sort_by(self, step: int) -> None:
        """Sort by the next column, or the previous one; after the last column comes the order of the source."""
        choices: list[int | None] = [None, *(n for n, column in enumerate(self.columns) if column.title)]
        self._sort(choices[(choices.index(self.sort) + step) % len(choices)])

    def turn_round(self) -> None:
        self.reverse = not self.reverse
        self._ordered()

    def _sort(self, place: int | None) -> None:
        self.sort = place
        self.reverse = place is not None and self.columns[place].descending
        self._ordered()

    def _ordered(self) -> None:
        self.follow = self.follow and self.sort is None and not self.reverse
        self.show(self._items)
        self.post_message(self.Sorted(self))

    def fields(self) -> list[tuple[str, str]]:
        """Titles and texts of the selected item's cells, also of those that the screen has no room for."""
        item = self.selected_item
        if item is None:
            return []
        return [(column.title, column.text(item).strip()) for column in self.columns if column.title]

    def _text(self, item: Item) -> str:
        return " ".join([self._key(item), *(column.text(item) for column in self.columns)])

    def name_border(self, title: str | None = None, subtitle: str | None = None) -> None:
        """As those of other widgets; a filter stands before the subtitle, with how many rows pass it."""
        self._subtitle = self._subtitle if subtitle is None else subtitle
        passed = f"/{self.filter}: {len(self._rows)} of {len(self._items)}" if self.filter else ""
        super().name_border(title, ", ".join(filter(None, (passed, self._subtitle))))

    def select(self, key: str) -> None:
        """Select an item and scroll to it."""
        self.selected, self._chosen = key, True
        self.repaint()

    def choose_first(self) -> None:
        """Let the first item be selected until the user chooses another."""
        self._chosen = False

    # Keys and mouse.

    def on_key(self, event: events.Key) -> None:
        steps = {"up": -1, "down": 1, "pageup": -self._height(), "pagedown": self._height()}
        if event.key in steps:
            self.move(steps[event.key])
        elif event.key in ("home", "end"):
            self.move(-len(self._rows) if event.key == "home" else len(self._rows))
        else:
            return
        event.stop()
        event.prevent_default()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.move(1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.move(-1)

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
        columns = laid_out(self.columns, width - bar)
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
            cell = pieces_of(column.cell(item))
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
            if self.sort is not None and self.columns[self.sort] is column:
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

    # Order and selection.

    def _arrange(self) -> None:
        rows = list(self._items)
        if self.filter:
            keeps = text_filter(self.filter)
            rows = [item for item in rows if keeps(self._matches(item))]
        if self.sort is not None:
            rows.sort(key=self.columns[self.sort].order, reverse=self.reverse)
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

    def move(self, steps: int) -> None:
        """Select the item so many rows below, at most to the end."""
        if self._rows:
            self.follow = False
            self._select_place(min(len(self._rows) - 1, max(0, (self._place() or 0) + steps)))

    def _select_place(self, place: int) -> None:
        self.selected, self._chosen = self._key(self._rows[place]), True
        self.post_message(self.Selected(self, self.selected))
        self.repaint()

    def _click_header(self, x: int) -> None:
        start = 0
        for column, width in laid_out(self.columns, self.size.width):
            if start <= x <= start + width and column.title:
                place = self.columns.index(column)
                if self.sort == place:
                    self.turn_round()
                else:
                    self._sort(place)
            start += width + 1
