"""Asks before an action that changes the engine."""

from typing import ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static


class Question(NamedTuple):
    """`yes` describes the action; `command` does the same from a shell, empty if there is none."""

    title: str
    text: str
    yes: str
    command: str = ""


class ConfirmScreen(ModalScreen[bool]):
    """Returns whether to act."""

    BINDINGS: ClassVar = [
        Binding("y,enter", "answer(True)", "Yes"),
        Binding("n,escape,q", "answer(False)", "No"),
    ]

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question

    def compose(self) -> ComposeResult:
        with Vertical(id="dialog") as dialog:
            dialog.border_title = Text(self.question.title)
            yield Static(self.question.text, markup=False)
            if self.question.command:
                yield Static(f"$ {self.question.command}", markup=False, classes="command")
            yield Static(f"y {self.question.yes}    n leave it", markup=False, classes="keys")

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
