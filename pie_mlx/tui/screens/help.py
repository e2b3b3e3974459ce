"""The keys, from the table of actions."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from pie_mlx.tui.actions import Action
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece


class KeyList(Canvas):
    """Keys by place."""

    def __init__(self, groups: list[tuple[str, list[tuple[str, Action]]]]) -> None:
        super().__init__(id="key-list")
        self._groups = groups
        self._key_width = max((len(key) for _, actions in groups for key, _ in actions), default=0)
        self.styles.height = sum(len(actions) + 2 for _, actions in groups)

    def paint(self, width: int, height: int) -> list[Line]:
        lines: list[Line] = []
        for title, actions in self._groups:
            lines.append([Piece(title, "muted")])
            for key, action in actions:
                mark = Piece(" ⚠", "warn") if action.steers else Piece("")
                lines.append([Piece(f" {key:>{self._key_width}}  ", "main!"), Piece(action.help), mark])
            lines.append([])
        return lines


class HelpScreen(ModalScreen[None]):
    """`groups` are titles with keys and their actions."""

    BINDINGS: ClassVar = [Binding("escape,question_mark,q,enter", "close", "Close")]

    def __init__(self, groups: list[tuple[str, list[tuple[str, Action]]]]) -> None:
        super().__init__()
        self._groups = groups

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="dialog") as dialog:
            dialog.border_title = "Keys"
            dialog.border_subtitle = "⚠ changes the engine, asks first"
            yield KeyList(self._groups)

    def action_close(self) -> None:
        self.dismiss(None)
