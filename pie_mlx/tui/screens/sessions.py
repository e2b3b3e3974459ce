"""The screen of connections and their programs, with a line to send a program messages."""

from collections.abc import Iterator
from typing import ClassVar

from textual import on
from textual.containers import Container
from textual.widget import Widget
from textual.widgets import Input

from pie_mlx.tui import commands
from pie_mlx.tui.model.text import rate
from pie_mlx.tui.model.views.connections import ConnectionRow, connection_rows
from pie_mlx.tui.model.views.program_row import ProgramRow
from pie_mlx.tui.screens import columns
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.table import Table
from pie_mlx.tui.widgets.transcript import Transcript

Connections = Column[ConnectionRow]
CONNECTIONS = (
    Connections("user", 9, lambda row: Piece(row.username, "bright")),
    Connections("from", 0, lambda row: Piece(row.address or "not connected", "muted")),
    Connections("run", 3, lambda row: f"{row.programs}", lambda row: row.programs, "right", descending=True),
    Connections("pages", 5, lambda row: f"{row.pages}", lambda row: row.pages, "right", descending=True),
    Connections("tok/s", 5, lambda row: rate(row.rate), lambda row: row.rate, "right", descending=True),
)
PROGRAMS = (
    columns.Programs("", 1, columns.mark),
    columns.Programs("program", 0, columns.program),
    columns.OWN,
    columns.RATE,
    columns.AGE,
)


class SessionsScreen(MonitorScreen):
    NAME = "sessions"
    BINDINGS: ClassVar = place_bindings("sessions")

    def __init__(self) -> None:
        super().__init__()
        self.conversation = Transcript("Conversation", id="conversation", empty="no output yet")
        self.field = Input(placeholder="write to the program", id="say")
        self.connections = Table[ConnectionRow](
            CONNECTIONS, lambda row: row.key, title="Connections", id="people", empty="none yet"
        )
        self.programs = Table[ProgramRow](
            PROGRAMS, lambda row: row.id, title="Programs", id="programs", empty="no program of theirs"
        )

    def body(self) -> Iterator[Widget]:
        yield Container(self.connections, self.programs, id="left")
        yield Container(self.conversation, self.field, id="right")

    def show_body(self, view: View) -> None:
        open_connections = view.facts.connections
        self.connections.show(connection_rows(view.facts, view.programs))
        self.connections.name_border(subtitle="users" if open_connections is None else f"{len(open_connections)} open")
        connection = self.connections.selected_item
        self.programs.show([row for row in view.programs if connection and row.username == connection.username])
        self.programs.name_border(f"Programs of {connection.username}" if connection else "Programs")
        self._show_conversation(view)

    def _show_conversation(self, view: View) -> None:
        process = view.state.processes.get(self.selected_process())
        self.conversation.name_border(f"{process.program} {process.id[:8]}" if process else "Conversation")
        self.conversation.show(process.output if process else ())

    def on_table_selected(self, message: Table.Selected) -> None:
        self.show_body(self.monitor.view)

    def selected_process(self) -> str:
        item = self.programs.selected_item
        return item.id if item else ""

    def action_copy_command(self) -> None:
        if process := self._chosen():
            self.monitor.copy(commands.attach(process))

    def action_message(self) -> None:
        if self._steerable():
            self.field.add_class("shown")
            self.field.focus()

    def leave(self) -> None:
        """Return from the line of a message to the programs, else to the overview."""
        if self.field.has_class("shown"):
            self.field.remove_class("shown")
            self.programs.focus()
        else:
            super().leave()

    @on(Input.Submitted, "#say")
    def _say(self, message: Input.Submitted) -> None:
        process, text = self._steerable(), message.value
        if process and text:
            message.input.value = ""
            self.monitor.talk(process, text)
