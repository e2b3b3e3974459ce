"""The base of screens that are one table with a filter above it."""

from collections.abc import Iterator
from typing import Generic, TypeVar

from textual.widget import Widget
from textual.widgets import Input

from pie_mlx.tui.screens.base import MonitorScreen
from pie_mlx.tui.widgets.table import Table

Item = TypeVar("Item")


class FilteredScreen(MonitorScreen, Generic[Item]):
    """A key shows the filter; going back clears it."""

    def __init__(self, table: Table[Item], *, placeholder: str) -> None:
        super().__init__()
        self.field = Input(placeholder=placeholder, id="filter")
        self.table = table

    def body(self) -> Iterator[Widget]:
        yield self.field
        yield self.table

    def action_filter(self) -> None:
        self.field.add_class("shown")
        self.field.focus()

    def action_back(self) -> None:
        if self.field.has_class("shown"):
            self.field.value = ""
            self.field.remove_class("shown")
            self.table.focus()
        else:
            super().action_back()

    def on_input_changed(self, message: Input.Changed) -> None:
        self.table.set_filter(message.value)
        self.show_body(self.monitor.view)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.table.focus()
