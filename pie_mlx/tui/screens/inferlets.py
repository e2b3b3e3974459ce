"""The screen of all programs, with the reasons they wait."""

from typing import ClassVar

from pie_mlx.tui.model.views.program_row import LIVING, ProgramRow
from pie_mlx.tui.screens.base import place_bindings
from pie_mlx.tui.screens.columns import INFERLETS
from pie_mlx.tui.screens.filtered import FilteredScreen
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.table import Table


def searched(row: ProgramRow) -> str:
    """The text that a filter searches."""
    return f"{row.id} {row.program} {row.username} {row.status} {row.reason}"


class InferletsScreen(FilteredScreen[ProgramRow]):
    NAME = "inferlets"
    BINDINGS: ClassVar = place_bindings("inferlets")

    def __init__(self) -> None:
        table = Table[ProgramRow](
            INFERLETS,
            lambda row: row.id,
            title="Inferlets",
            id="programs",
            matches=searched,
        )
        super().__init__(table, placeholder="part of a name, user, state or reason")

    def show_body(self, view: View) -> None:
        self.table.empty = view.no_programs
        self.table.show(view.programs)
        living = sum(row.status in LIVING for row in view.programs)
        shown = f"{len(self.table.rows)} shown, " if self.table.filter else ""
        self._show_selected()
        self.table.name_border(subtitle=f"{shown}{living} alive, {len(view.programs) - living} ended")

    def on_table_selected(self, message: Table.Selected) -> None:
        self._show_selected()

    def _show_selected(self) -> None:
        """Show the selected program's full reason, which its column may cut."""
        row = self.table.selected_item
        self.table.name_border(f"Inferlets   {row.short_id}: {row.reason}" if row else "Inferlets")

    def selected_process(self) -> str:
        return self.table.selected

    def action_sort_next(self) -> None:
        self.table.sort_by(1)

    def action_sort_previous(self) -> None:
        self.table.sort_by(-1)

    def action_reverse(self) -> None:
        self.table.turn_round()
