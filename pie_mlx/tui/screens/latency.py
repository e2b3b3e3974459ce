"""The screen of waits: for a first token and between tokens, and where each request spent its time."""

from collections.abc import Iterator
from typing import ClassVar

from textual.containers import Container
from textual.widget import Widget

from pie_mlx.tui.model.text import count, duration, one_line
from pie_mlx.tui.model.views.latency import (
    LatencyWindow,
    Percentiles,
    RequestRow,
    heat_of,
    latency_windows,
    request_rows,
)
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.grid import Grid
from pie_mlx.tui.widgets.heat_map import HeatMap
from pie_mlx.tui.widgets.table import Column, Table

BAR_CELLS = 8
TONES = {"queued": "warn", "prompt": "main", "decode": "good", "done": "muted"}


def _wait(seconds: float) -> Piece:
    return Piece(duration(seconds)) if seconds else Piece("·", "faint")


WINDOWS = (
    ("last", 5),
    *(("first token", 11), ("p50", 8), ("p95", 8), ("p99", 8)),
    *(("next tokens", 12), ("p50", 8), ("p95", 8), ("p99", 8)),
)


def _window(row: LatencyWindow) -> list[Piece]:
    return [Piece(f"{row.minutes} m", "muted"), *_waits(row.first_token), *_waits(row.between_tokens)]


def _waits(row: Percentiles) -> list[Piece]:
    waits = [_wait(seconds) for seconds in (row.p50, row.p95, row.p99)]
    return [Piece(f"{row.count:,}" if row.count else "·", "muted"), *waits]


def _phase(row: RequestRow) -> list[Piece]:
    tone = TONES[row.phase]
    if row.phase != "prompt":
        return [Piece(row.phase, tone)]
    done = int(row.read * BAR_CELLS)
    return [Piece("█" * done, tone), Piece("░" * (BAR_CELLS - done), "faint"), Piece(f" {row.read:.0%}", tone)]


def _prompt(row: RequestRow) -> Piece:
    return Piece(count(row.prompt_tokens) if row.prompt_tokens else "·", "" if row.prompt_tokens else "faint")


def _cached(row: RequestRow) -> Piece:
    part = row.cached_tokens / row.prompt_tokens if row.prompt_tokens else 0.0
    return Piece(f"{part:.0%}" if part else "·", "muted" if part else "faint")


def _why(row: RequestRow) -> list[Piece]:
    """How long it left the batch to others, and why."""
    if not row.waited:
        return []
    reason = one_line(row.reason.removeprefix("waiting: ").removeprefix("suspended: "))
    return [Piece(duration(row.waited), "warn"), Piece(f" {reason}", "muted")]


Requests = Column[RequestRow]
REQUESTS = (
    Requests("phase", 13, _phase),
    Requests("program", 0, lambda row: Piece(one_line(row.program), "bright")),
    Requests("prompt", 6, _prompt, align="right"),
    Requests("cached", 6, _cached, align="right", show_from=100),
    Requests("queued", 7, lambda row: _wait(row.queued), align="right"),
    Requests("reading", 7, lambda row: _wait(row.prompt), align="right"),
    Requests("1st token", 9, lambda row: _wait(row.first_token), align="right", show_from=100),
    Requests("tokens", 6, lambda row: count(row.tokens), align="right"),
    Requests("each", 7, lambda row: _wait(row.per_token), align="right"),
    Requests("waited for others", 0, _why, show_from=100, share=2),
)


class LatencyScreen(MonitorScreen):
    NAME = "latency"
    AUTO_FOCUS = "#requests"
    BINDINGS: ClassVar = place_bindings("latency")

    def __init__(self) -> None:
        super().__init__()
        self.windows = Grid("Waits", WINDOWS, id="windows")
        self.first = HeatMap("To the first token", "accent", id="first-heat")
        self.between = HeatMap("Between tokens", "good", id="between-heat")
        self.requests = Table[RequestRow](
            REQUESTS, lambda row: row.key, title="Requests", id="requests", empty="no prompt was read yet"
        )

    def body(self) -> Iterator[Widget]:
        yield self.windows
        yield Container(self.first, self.between, id="heats")
        yield self.requests

    def show_body(self, view: View) -> None:
        state = view.state
        self.windows.show([_window(row) for row in latency_windows(state)], "tokens, and how long they were waited for")
        self.first.show(lambda columns, rows: heat_of(state, "first", columns, rows), "10 s to a column")
        self.between.show(lambda columns, rows: heat_of(state, "between", columns, rows), "darker: more tokens")
        rows = request_rows(state)
        self.requests.show(rows)
        live = sum(row.phase != "done" for row in rows)
        self.requests.name_border(subtitle=f"{live} now, {len(rows) - live} before")

    def selected_process(self) -> str:
        row = self.requests.selected_item
        return row.process if row else ""
