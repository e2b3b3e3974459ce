"""Dialogs that choose: one of many lines, and one of the panels of a screen."""

from collections.abc import Sequence
from string import ascii_lowercase
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Input, Static

from pie_mlx.tui.model.text import one_line
from pie_mlx.tui.model.text_filter import best_first
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.table import Table


class Choice(NamedTuple):
    """`key` is unique; `title` is searched and shown, with `detail` beside it."""

    key: str
    title: str
    detail: str = ""


CHOICES: tuple[Column[Choice], ...] = (
    Column("", 26, lambda row: Piece(one_line(row.title), "bright"), most=40),
    Column("", 0, lambda row: Piece(one_line(row.detail), "muted")),
)


class ChooseScreen(ModalScreen[str | None]):
    """Returns the key of a choice, or None. Letters narrow the list."""

    BINDINGS: ClassVar = [
        Binding("escape", "leave", "Cancel"),
        Binding("up", "move(-1)", "Up"),
        Binding("down", "move(1)", "Down"),
        Binding("tab", "complete", "Complete"),
    ]

    def __init__(self, title: str, choices: Sequence[Choice], placeholder: str) -> None:
        super().__init__()
        self._title, self._choices = title, choices
        self.field = Input(placeholder=placeholder, id="answer")
        self.table = Table[Choice](CHOICES, lambda row: row.key, title="", id="choices", empty="nothing has this name")
        self.table.can_focus = False

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Text(self._title)
            yield self.field
            yield self.table
            yield Static("enter take it    tab complete    esc leave", markup=False, classes="keys")

    def on_mount(self) -> None:
        self.field.focus()
        self._show("")

    def on_input_changed(self, message: Input.Changed) -> None:
        self._show(message.value)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        if self.table.rows:
            self.dismiss(self.table.selected)

    def on_table_opened(self, message: Table.Opened) -> None:
        self.dismiss(message.key)

    def action_move(self, by: int) -> None:
        self.table.move(by)

    def action_complete(self) -> None:
        if chosen := self.table.selected_item:
            self.field.value = chosen.title
            self.field.action_end()

    def action_leave(self) -> None:
        self.dismiss(None)

    def _show(self, written: str) -> None:
        self.table.choose_first()
        self.table.show(best_first(written, self._choices, lambda choice: choice.title))


class JumpScreen(ModalScreen[None]):
    """Shows a letter on each panel; the letter gives it the focus, any other key nothing."""

    def __init__(self, panels: Sequence[Widget]) -> None:
        super().__init__()
        self._panels = dict(zip(ascii_lowercase, panels, strict=False))

    def compose(self) -> ComposeResult:
        for letter, panel in self._panels.items():
            mark = Static(f" {letter} ", classes="mark")
            mark.styles.offset = (panel.region.x + 1, panel.region.y)
            yield mark

    def on_key(self, event: events.Key) -> None:
        event.stop()
        self.dismiss()
        if panel := self._panels.get(event.key):
            panel.screen.set_focus(panel)
