"""What happened, line by line."""

from collections.abc import Iterator
from typing import ClassVar, get_args

from textual.widget import Widget
from textual.widgets import Input

from pie_mlx.tui.model.state import Level, LogLine
from pie_mlx.tui.model.text import clock, one_line
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.table import Column, Table

LEVELS: tuple[Level, ...] = get_args(Level)
TONES = {"debug": "muted", "info": "main", "warning": "warn", "error": "bad"}
TEXT_TONES = {"debug": "muted", "info": "", "warning": "", "error": "bad"}

Lines = Column[LogLine]


class LogsScreen(MonitorScreen):
    NAME = "logs"
    BINDINGS: ClassVar = place_bindings("logs")

    def __init__(self) -> None:
        super().__init__()
        self.field = Input(placeholder="part of a line", id="filter")
        self._started = 0.0
        self._least: Level = "info"
        self.table = Table[LogLine](
            (
                Lines("time", 7, lambda line: Piece(clock(line.seconds - self._started), "muted"), align="right"),
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
        self.table.follow = True

    def body(self) -> Iterator[Widget]:
        yield self.field
        yield self.table

    def show_body(self, view: View) -> None:
        self._started = view.state.started_seconds
        least = LEVELS.index(self._least)
        self.table.show([line for line in view.state.log if LEVELS.index(line.level) >= least])
        following = "following" if self.table.follow else "g follows"
        self.table.name_border(subtitle=f"{len(self.table.rows)} lines, {self._least} and up, {following}")

    def selected_process(self) -> str:
        line = self.table.selected_item
        return line.process if line else ""

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

    def action_level(self) -> None:
        self._least = LEVELS[(LEVELS.index(self._least) + 1) % len(LEVELS)]
        self.show_body(self.monitor.view)

    def action_follow(self) -> None:
        self.table.follow = not self.table.follow
        self.show_body(self.monitor.view)
