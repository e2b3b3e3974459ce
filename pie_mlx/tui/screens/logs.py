"""The screen of log lines."""

from typing import ClassVar, get_args

from pie_mlx.tui.model.state import Level, LogLine
from pie_mlx.tui.model.text import moment, one_line
from pie_mlx.tui.screens.base import place_bindings
from pie_mlx.tui.screens.filtered import FilteredScreen
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.table import Column, Table

LEVELS: tuple[Level, ...] = get_args(Level)
TONES = {"debug": "muted", "info": "main", "warning": "warn", "error": "bad"}
TEXT_TONES = {"debug": "muted", "info": "", "warning": "", "error": "bad"}

Lines = Column[LogLine]


class LogsScreen(FilteredScreen[LogLine]):
    NAME = "logs"
    BINDINGS: ClassVar = place_bindings("logs")

    def __init__(self) -> None:
        self._started = 0.0
        self._least: Level = "info"
        table = Table[LogLine](
            (
                Lines("time", 8, lambda line: Piece(moment(line.seconds, self._started), "muted"), align="right"),
                Lines("level", 7, lambda line: Piece(line.level, TONES[line.level])),
                Lines("source", 20, lambda line: Piece(line.source, "muted" if line.source == "engine" else "bright")),
                Lines("id", 8, lambda line: Piece(line.process[:8], "muted"), show_from=100),
                Lines("text", 0, lambda line: Piece(one_line(line.text), TEXT_TONES[line.level])),
            ),
            lambda line: str(line.number),
            title="Logs",
            id="lines",
            empty="nothing of this level has happened",
            matches=lambda line: f"{line.source} {line.process} {line.level} {line.text}",
        )
        table.follow = True
        super().__init__(table, placeholder="part of a line")

    def show_body(self, view: View) -> None:
        self._started = view.state.started_seconds
        least = LEVELS.index(self._least)
        self.table.show([line for line in view.state.log if LEVELS.index(line.level) >= least])
        following = "following" if self.table.follow else "g follows"
        self._show_selected()
        self.table.name_border(subtitle=f"{len(self.table.rows)} lines, {self._least} and up, {following}")

    def on_table_selected(self, message: Table.Selected) -> None:
        self._show_selected()

    def _show_selected(self) -> None:
        """Show the selected line's full text, which its column may cut."""
        line = self.table.selected_item
        self.table.name_border(f"Logs   {one_line(line.text)}" if line else "Logs")

    def selected_process(self) -> str:
        line = self.table.selected_item
        return line.process if line else ""

    def action_level(self) -> None:
        self._least = LEVELS[(LEVELS.index(self._least) + 1) % len(LEVELS)]
        self.show_body(self.monitor.view)

    def action_follow(self) -> None:
        self.table.follow = not self.table.follow
        self.show_body(self.monitor.view)
