"""Every program, and why it waits."""

from collections.abc import Iterator
from typing import ClassVar

from textual.widget import Widget
from textual.widgets import Input

from pie_mlx.tui.model.program_row import ProgramRow
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.screens.columns import INFERLETS, LIVING
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.table import Table


def searched(row: ProgramRow) -> str:
    """The text a filter looks in."""
    return f"{row.id} {row.program} {row.username} {row.status} {row.reason}"


class InferletsScreen(MonitorScreen):
    NAME = "inferlets"
    BINDINGS: ClassVar = place_bindings("inferlets")

    def __init__(self) -> None:
        super().__init__()
        self.field = Input(placeholder="part of a name, user, state or reason", id="filter")
        self.table = Table[ProgramRow](
            INFERLETS,
            lambda row: row.id,
            title="Inferlets",
            id="programs",
            empty="no program has been launched yet",
            matches=searched,
        )

    def body(self) -> Iterator[Widget]:
        yield self.field
        yield self.table

    def show_body(self, view: View) -> None:
        self.table.show(view.programs)
        living = sum(row.status in LIVING for row in view.programs)
        shown = f"{len(self.table.rows)} shown, " if self.table.filter else ""
        self._show_selected()
        self.table.name_border(subtitle=f"{shown}{living} alive, {len(view.programs) - living} ended")

    def on_table_selected(self, message: Table.Selected) -> None:
        self._show_selected()

    def _show_selected(self) -> None:
        """The whole reason of the selected program, which its column may cut."""
        row = self.table.selected_item
        self.table.name_border(f"Inferlets   {row.short_id}: {row.reason}" if row else "Inferlets")

    def selected_process(self) -> str:
        return self.table.selected

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

    def action_sort_next(self) -> None:
        self.table.sort_by(1)

    def action_sort_previous(self) -> None:
        self.table.sort_by(-1)

    def action_reverse(self) -> None:
        self.table.turn_round()
