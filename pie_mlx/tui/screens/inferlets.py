"""The screen of all programs, with the reasons they wait."""

from collections.abc import Iterator
from typing import ClassVar

import msgspec
from textual.widget import Widget

from pie_mlx.tui.model.views.program_row import LIVING, FamilyRow, ProgramRow, families
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.screens.columns import INFERLETS
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.table import Table


def alone(row: FamilyRow) -> FamilyRow:
    """The row without its place in the tree."""
    return msgspec.structs.replace(row, branches="") if row.branches else row


def searched(row: ProgramRow) -> str:
    """The text that a filter searches."""
    return f"{row.id} {row.program} {row.username} {row.status} {row.reason}"


class InferletsScreen(MonitorScreen):
    NAME = "inferlets"
    BINDINGS: ClassVar = place_bindings("inferlets")

    def __init__(self) -> None:
        super().__init__()
        self.table = Table[FamilyRow](
            INFERLETS,
            lambda row: row.id,
            title="Inferlets",
            id="programs",
            matches=searched,
        )

    def body(self) -> Iterator[Widget]:
        yield self.table

    def show_body(self, view: View) -> None:
        self.table.empty = view.no_programs
        rows = families(view.programs)
        self.table.show(rows if self.table.is_in_source_order else [alone(row) for row in rows])
        living = sum(row.status in LIVING for row in view.programs)
        self._show_selected()
        self.table.name_border(subtitle=f"{living} alive, {len(view.programs) - living} ended")

    def on_table_selected(self, message: Table.Selected) -> None:
        self._show_selected()

    def _show_selected(self) -> None:
        """Show the selected program's full reason, which its column may cut."""
        row = self.table.selected_item
        self.table.name_border(f"Inferlets   {row.short_id}: {row.reason}" if row else "Inferlets")

    def selected_process(self) -> str:
        return self.table.selected

    def show_program(self, process: str) -> None:
        self.table.select(process)
