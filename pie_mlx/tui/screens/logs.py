"""The screen of log lines."""

from collections.abc import Iterable, Iterator
from typing import ClassVar, get_args

from textual.widget import Widget

from pie_mlx.plural import plural
from pie_mlx.tui.model.process import ProcessState
from pie_mlx.tui.model.state import Level, LogLine
from pie_mlx.tui.model.text import moment, one_line
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.table import Table

LEVELS: tuple[Level, ...] = get_args(Level)
TONES = {"debug": "muted", "info": "main", "warning": "warn", "error": "bad"}
TEXT_TONES = {"debug": "muted", "info": "", "warning": "", "error": "bad"}

Lines = Column[LogLine]


def lines_of(process: ProcessState, log: Iterable[LogLine]) -> list[LogLine]:
    """What a program wrote itself, all of it that is kept, then what the engine says about it."""
    pieces = [(piece, text) for piece in process.output for text in piece.text.splitlines() if text.strip()]
    own = [
        LogLine(place - len(pieces), piece.seconds, "info", process.id, piece.stream, text, own=True)
        for place, (piece, text) in enumerate(pieces)
    ]
    return [*own, *(line for line in log if line.process == process.id and not line.own)]


class LogsScreen(MonitorScreen):
    NAME = "logs"
    BINDINGS: ClassVar = place_bindings("logs")

    def __init__(self) -> None:
        super().__init__()
        self._started = 0.0
        self._process = ""
        self._least: Level = "info"
        self.table = Table[LogLine](
            (
                Lines(
                    "time",
                    8,
                    lambda line: Piece(moment(line.seconds, self._started), "muted"),
                    lambda line: line.number,
                    align="right",
                ),
                Lines(
                    "level", 7, lambda line: Piece(line.level, TONES[line.level]), lambda line: LEVELS.index(line.level)
                ),
                Lines(
                    "source",
                    20,
                    lambda line: Piece(line.source, "muted" if line.source == "engine" else "bright"),
                    most=32,
                ),
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
        yield self.table

    def show_body(self, view: View) -> None:
        self._started = view.state.started_seconds
        least = LEVELS.index(self._least)
        lines = [line for line in view.state.log if LEVELS.index(line.level) >= least]
        if process := view.state.processes.get(self._process):
            lines = lines_of(process, lines)
        self.table.show(lines)
        following = "following" if self.table.follow else "g follows"
        self._show_selected()
        self.table.name_border(subtitle=f"{plural(len(self.table.rows), 'line')}, {self._least} and up, {following}")

    def on_table_selected(self, message: Table.Selected) -> None:
        self._show_selected()

    def _show_selected(self) -> None:
        """Show the selected line's full text, which its column may cut."""
        line = self.table.selected_item
        name = f"Logs of {self._process[:8]}" if self._process else "Logs"
        self.table.name_border(f"{name}   {one_line(line.text)}" if line else name)

    def selected_process(self) -> str:
        line = self.table.selected_item
        return line.process if line else ""

    def show_program(self, process: str) -> None:
        self._process = process
        self.table.follow = False
        self.table.choose_first()
        self.show_body(self.monitor.view)

    def leave(self) -> None:
        """Return from the lines of one program to all lines, else to the overview."""
        if self._process:
            self._process, self.table.follow = "", True
            self.show_body(self.monitor.view)
        else:
            super().leave()

    def action_level(self) -> None:
        self._least = LEVELS[(LEVELS.index(self._least) + 1) % len(LEVELS)]
        self.show_body(self.monitor.view)

    def action_follow(self) -> None:
        self.table.follow = not self.table.follow
        self.show_body(self.monitor.view)
