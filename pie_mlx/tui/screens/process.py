"""The detail view of one program: its timeline, its output, its contexts."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from textual.containers import Container
from textual.widget import Widget

from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.context import ContextState, activity
from pie_mlx.tui.model.process import ProcessState
from pie_mlx.tui.model.text import age, count, credits, one_line, rate
from pie_mlx.tui.model.views.program_input import InputLine, input_lines
from pie_mlx.tui.model.views.program_row import ProgramRow
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.screens.columns import MARKS
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.chart import Chart
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.palette import STATUS_TONES, owner_tone
from pie_mlx.tui.widgets.stats import Stat, StatRow
from pie_mlx.tui.widgets.table import Table
from pie_mlx.tui.widgets.timeline import Lane, Timeline
from pie_mlx.tui.widgets.transcript import Transcript

WINDOW_SECONDS = 60.0
LANES = 64


class ContextRow(NamedTuple):
    """A context in the list of the detail view."""

    context: ContextState
    status: str


def _held(context: ContextState, state: MonitorState) -> ContextRow:
    return ContextRow(context, activity(context, state.seconds))


def _number(row: ContextRow) -> int:
    return row.context.id


def _parent(row: ContextRow) -> Piece:
    return Piece(f"#{row.context.parent}" if row.context.parent else "", "muted")


def _reason(row: ContextRow) -> Piece:
    return Piece(one_line(row.context.reason.removeprefix("waiting: ").removeprefix("suspended: ")), "muted")


HELD: tuple[Column[ContextRow], ...] = (
    Column("ctx", 5, lambda row: Piece(f"#{row.context.id}", owner_tone(row.context.account)), _number, "right"),
    Column("from", 5, _parent, lambda row: row.context.parent, "right"),
    Column("state", 9, lambda row: Piece(row.status, STATUS_TONES[row.status])),
    Column("own", 4, lambda row: f"{row.context.own_pages}", lambda row: row.context.own_pages, "right"),
    Column("shared", 6, lambda row: f"{row.context.shared_pages}", lambda row: row.context.shared_pages, "right"),
    Column("tokens", 6, lambda row: f"{row.context.held_tokens}", lambda row: row.context.held_tokens, "right", 46),
    Column("bid", 6, lambda row: credits(row.context.bid), lambda row: row.context.bid, "right", 52),
    Column("reason", 0, _reason, show_from=64),
)


INPUT: tuple[Column[InputLine], ...] = (
    Column("parameter", 14, lambda row: Piece(one_line(row.name), "main")),
    Column("value", 0, lambda row: one_line(row.value)),
)


class ProcessScreen(MonitorScreen):
    NAME = "process"
    TAB = "inferlets"
    BINDINGS: ClassVar = place_bindings("process")

    def __init__(self, process: str) -> None:
        super().__init__()
        self.facts = StatRow(id="facts")
        self.timeline = Timeline(id="timeline")
        self.said = Transcript("Output", id="output", streams=("message", "stdout", "file", "sent"))
        self.errors = Transcript("Standard error", id="errors", streams=("stderr",), empty="nothing")
        self._process = process
        self.contexts = Table[ContextRow](
            HELD,
            lambda row: str(row.context.id),
            title="Contexts",
            id="contexts",
            empty="it holds no context",
        )
        self.input = Table[InputLine](INPUT, lambda row: row.name, title="Input", id="input", empty="it has none")

        self.rates = Chart("Decoded tokens", "good", rate, id="rates", unit=" tok/s", seconds=1.0)
        self.held = Chart("Pages", "main", count, id="pages-held", seconds=1.0)

    def body(self) -> Iterator[Widget]:
        yield self.facts
        yield Container(self.rates, self.held, id="trends")
        yield self.timeline
        held = Container(self.contexts, self.input, id="held")
        yield Container(held, Container(self.said, self.errors, id="texts"), id="panels")

    def show_body(self, view: View) -> None:
        process = view.state.processes.get(self._process)
        row = next((row for row in view.programs if row.id == self._process), None)
        if process is None or row is None:
            return
        self.facts.show(_facts(process, row))
        contexts = [context for context in view.state.contexts.values() if context.process == process.id]
        gone = [context for context in view.state.released.values() if context.process == process.id]
        self.rates.show(process.rates, process.rate)
        self.held.show(process.held, process.own_pages + process.shared_pages)
        self._show_timeline(view, process, [*gone, *contexts])
        self.contexts.show([_held(context, view.state) for context in contexts])
        self.contexts.name_border(subtitle=f"{len(contexts)} held, {len(gone)} released")
        self.input.show(input_lines(process.input))
        if process.miss:
            self.input.name_border(subtitle=f"not cached: {one_line(process.miss)}")
        self.said.show(process.output)
        self.said.name_border(subtitle="T: its tokens")
        self.errors.show(process.output)

    def _show_timeline(self, view: View, process: ProcessState, contexts: list[ContextState]) -> None:
        end = process.ended_seconds if process.outcome else view.state.seconds
        start = max(process.launched_seconds, end - WINDOW_SECONDS)
        lanes = [
            Lane(f"#{context.id}", context.created, context.released or end, context.spans)
            for context in contexts[-LANES:]
            if not context.released or context.released > start
        ]
        if process.tools:
            lanes.insert(0, Lane("tools", process.launched_seconds, end, process.tools))
        self.timeline.styles.height = min(len(lanes) + 4, max(7, self.size.height // 3))
        self.timeline.show(lanes, start, end)

    def selected_process(self) -> str:
        return self._process

    def action_open(self) -> None:
        """Already open."""

    def leave(self) -> None:
        self.dismiss()


def _facts(process: ProcessState, row: ProgramRow) -> tuple[Stat, ...]:
    tone = STATUS_TONES[row.status]
    budget = f"of {count(process.token_budget)}" if process.token_budget else "no budget"
    return (
        Stat(process.program, f"{MARKS[row.status]} {row.status}", "", tone, (Piece(one_line(row.reason), "muted"),)),
        Stat("id", row.short_id, "", "main", (Piece(f"of {row.username}, {age(row.age_seconds)}", "muted"),)),
        Stat("tokens", count(row.tokens), "", "good", (Piece(f"{rate(row.rate)} tok/s, {budget}", "muted"),)),
        Stat("pages", f"{row.own}", "own", "main", (Piece(f"{row.shared} shared", "muted"),)),
        Stat(
            "credits",
            credits(row.balance),
            "left",
            "warn",
            (Piece(f"{credits(row.spent)} spent, bid {credits(row.bid)}", "muted"),),
        ),
    )
