"""The screen of MCP servers: their state, their calls and their errors."""

from collections.abc import Iterator
from typing import ClassVar

from textual.containers import Container
from textual.widget import Widget

from pie_mlx.events import McpTool
from pie_mlx.tui.model.mcp import McpState, mcp_servers
from pie_mlx.tui.model.process import Output
from pie_mlx.tui.model.text import duration, one_line
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.table import Table
from pie_mlx.tui.widgets.transcript import Transcript

TONES = {"ready": "good", "stopped": "bad", "client": "main", "unused": "muted"}


def _failed(row: McpState) -> int:
    return row.errors


def _latest(row: McpState) -> float:
    return row.duration_seconds


Servers = Column[McpState]
SERVERS = (
    Servers("server", 16, lambda row: Piece(one_line(row.name), "bright"), most=32),
    Servers("over", 8, lambda row: Piece(row.transport, "muted")),
    Servers("state", 8, lambda row: Piece(row.state, TONES[row.state])),
    Servers("starts", 6, lambda row: Piece(f"{row.starts or '·'}", "muted"), lambda row: row.starts, "right", 90),
    Servers("calls", 6, lambda row: f"{row.calls}", lambda row: row.calls, "right", descending=True),
    Servers("failed", 6, lambda row: Piece(f"{row.errors}", "bad" if row.errors else "muted"), _failed, "right"),
    Servers("latest", 8, lambda row: Piece(duration(row.duration_seconds), "muted"), _latest, "right", 90),
    Servers("latest error", 0, lambda row: Piece(one_line(row.last_error), "bad")),
)

TOOLS: tuple[Column[McpTool], ...] = (
    Column("tool", 20, lambda row: Piece(one_line(row.name), "bright"), most=40),
    Column("what it does", 0, lambda row: Piece(one_line(row.description), "muted")),
)


class McpScreen(MonitorScreen):
    NAME = "mcp"
    BINDINGS: ClassVar = place_bindings("mcp")

    def __init__(self) -> None:
        super().__init__()
        self.tools = Table[McpTool](
            TOOLS, lambda row: row.name, title="Tools", id="tools", empty="no program has asked for its tools"
        )
        self.called = Transcript("Called", id="called", empty="nothing was called")
        self.errors = Transcript("Errors", id="errors", empty="nothing went wrong")
        self.servers = Table[McpState](
            SERVERS, lambda row: row.name, title="MCP servers", id="servers", empty="no MCP server is known"
        )

    def body(self) -> Iterator[Widget]:
        yield self.servers
        happened = Container(self.called, self.errors, id="happened")
        yield Container(self.tools, happened, id="details")

    def show_body(self, view: View) -> None:
        self.servers.show(mcp_servers(view.state.mcp, view.facts))
        self._show_selected()

    def on_table_selected(self, message: Table.Selected) -> None:
        self._show_selected()

    def _show_selected(self) -> None:
        server = self.servers.selected_item
        self.tools.show(server.tools if server else ())
        self.called.show([Output("message", "\n".join(server.methods), 0.0)] if server and server.methods else ())
        errors = [Output("message", server.last_error, 0.0)] if server and server.last_error else []
        if server and server.stderr:
            errors.append(Output("stderr", "\n".join(server.stderr), 0.0))
        self.errors.show(errors)
