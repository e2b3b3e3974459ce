"""Dialogs over a screen: a question to confirm, and a line of text to write."""

from collections.abc import Callable
from typing import ClassVar, NamedTuple

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Static


class Question(NamedTuple):
    """`yes` names the effect of a yes; `command` is the shell command with that effect, empty if there is none."""

    title: str
    text: str
    yes: str
    command: str = ""


class ConfirmScreen(ModalScreen[bool]):
    """Returns whether the user confirmed."""

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


def no_problem(text: str) -> str:
    """The problem of an empty text; any other is accepted."""
    return "" if text else "nothing is written"


class PromptScreen(ModalScreen[str | None]):
    """Returns the text, or None. `problem` describes why a text is not accepted; "" accepts it."""

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
