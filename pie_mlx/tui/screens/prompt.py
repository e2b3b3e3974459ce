"""Asks for a line of text."""

from collections.abc import Callable
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static


def no_problem(text: str) -> str:
    """Accepts any text that is not empty."""
    return "" if text else "nothing is written"


class PromptScreen(ModalScreen[str | None]):
    """Returns the text, or None. `problem` gives a line about an invalid text."""

    BINDINGS: ClassVar = [Binding("escape", "cancel", "Cancel")]

    def __init__(self, title: str, text: str, value: str, problem: Callable[[str], str] = no_problem) -> None:
        super().__init__()
        self._title, self._text, self._value, self._problem = title, text, value, problem

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Text(self._title)
            yield Static(self._text, markup=False)
            yield Input(self._value, id="answer")
            yield Static("enter do it    esc leave it", markup=False, classes="keys")

    def on_input_submitted(self, message: Input.Submitted) -> None:
        if problem := self._problem(message.value):
            self.query_one(".keys", Static).update(problem)
        else:
            self.dismiss(message.value)

    def action_cancel(self) -> None:
        self.dismiss(None)
