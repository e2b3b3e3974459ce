"""The overview of the engine on one screen."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import ClassVar

from textual.containers import Container
from textual.widget import Widget

from pie_mlx.events import PageUsage
from pie_mlx.plural import plural
from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.facts import ModelRow
from pie_mlx.tui.model.text import count, credits, duration, rate, size
from pie_mlx.tui.model.views.program_groups import grouped, is_group
from pie_mlx.tui.model.views.program_row import LIVING, ProgramRow
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.screens.columns import MARKS, OVERVIEW
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.chart import Chart
from pie_mlx.tui.widgets.grid import Grid
from pie_mlx.tui.widgets.palette import STATUS_TONES
from pie_mlx.tui.widgets.share_bar import Share, ShareBar
from pie_mlx.tui.widgets.stats import Stat, StatRow
from pie_mlx.tui.widgets.table import Table

TOP_PROGRAMS = 100


def page_shares(pages: PageUsage) -> list[Share]:
    """The pool by the use of its pages."""
    return [
        Share("own", pages.used - pages.shared, "main"),
        Share("shared", pages.shared, "accent"),
        Share("cached", pages.cached, "main~40"),
        Share("free", pages.free, "faint"),
    ]


MODELS = (("", 24), ("state", 13), ("memory", 10), ("pages", 13), ("price", 7), ("programs", 9))
MOST_MODELS = 6
"""Without the focus: with it the panel can be given the whole screen."""
FRAME_LINES = 3
_TONES = {"loaded": "good", "loading": "accent", "unloading": "accent", "failed": "bad"}


def model_cells(model: ModelRow) -> list[Piece]:
    """A model with its state, the memory that it takes, its pages and their price; a dot for what it does not have."""
    is_there = model.state in ("loaded", "unloading")
    progress = "" if model.progress is None else f" {model.progress * 100:.0f} %"
    return [
        Piece(model.name, "bright" if is_there else "muted"),
        Piece(model.state + progress, _TONES.get(model.state, "muted")),
        _or_dot(size(model.size_bytes) if is_there else ""),
        _or_dot(f"{model.pages.used}/{model.pages.total}" if model.pages else ""),
        _or_dot("" if model.price is None else credits(model.price)),
        _or_dot(f"{model.processes}" if model.processes else ""),
    ]


def _or_dot(text: str) -> Piece:
    return Piece(text) if text else Piece("·", "faint")


class OverviewScreen(MonitorScreen):
    NAME = "overview"
    BINDINGS: ClassVar = place_bindings("overview")

    def __init__(self) -> None:
        super().__init__()
        self.figures = StatRow(id="figures")
        self.tokens = Chart("Decoded tokens", "good", rate, id="tokens-chart", unit=" tok/s")
        self.used = Chart("Pages used", "main", count, id="pages-chart")
        self.price = Chart("Clearing price", "warn", credits, id="price-chart", unit=" cr")
        self.latency = Chart("Pass latency", "accent", duration, id="latency-chart")
        self.pool = ShareBar("Pool", id="pool")
        self.models = Grid("Models", MODELS, id="models")
        self.top = Table[ProgramRow](OVERVIEW, lambda row: row.id, title="Programs", id="top")

    def body(self) -> Iterator[Widget]:
        yield self.figures
        yield Container(self.tokens, self.used, self.price, self.latency, id="charts")
        yield self.pool
        yield self.models
        yield self.top

    def show_body(self, view: View) -> None:
        state = view.state
        self.figures.show(figures(view))
        history = state.history
        self.tokens.show(state.token_rates, state.tokens_per_second)
        self.used.show([sample.used for sample in history], state.pages.used, top=max(1, state.pages.total))
        self.price.show([sample.price for sample in history], state.price)
        self.latency.show([sample.latency_seconds for sample in history], _latency(state))
        self.pool.show(page_shares(state.pages))
        several = view.facts.models if len(view.facts.models) > 1 else ()
        self.set_class(bool(several), "-several")
        self.models.styles.height = len(several[:MOST_MODELS]) + FRAME_LINES
        self.models.show([model_cells(model) for model in several])
        self.top.empty = view.no_programs
        self.top.show(grouped(view.programs)[:TOP_PROGRAMS])
        self.top.name_border(subtitle=f"{len(view.programs)}, most pages first")

    def selected_process(self) -> str:
        return "" if is_group(self.top.selected) else self.top.selected

    def action_open(self) -> None:
        """Open a program; of a row that stands for several, the list of all."""
        if is_group(self.top.selected):
            self.monitor.show_tab("inferlets")
        else:
            super().action_open()


def figures(view: View) -> tuple[Stat, ...]:
    """The six figures at the top. Pages and price are those of the first model."""
    state = view.state
    whose = f"of {view.facts.models[0].name}" if len(view.facts.models) > 1 else ""
    counts = Counter(row.status for row in view.programs)
    batch = (state.batch_contexts, state.batch_tokens) if state.computes else (0, 0)
    living = sum(process.lives for process in state.processes.values())
    return (
        Stat(
            "tokens",
            rate(state.tokens_per_second),
            "tok/s",
            "good",
            _muted(f"+ {rate(state.prefill_per_second)} prefill"),
        ),
        Stat("pages", f"{state.pages.used}", f"of {state.pages.total}", "main", _muted(whose or _used(state))),
        Stat("price", credits(state.price), "cr", "warn", _muted(whose or _pressure(state))),
        Stat("programs", f"{living}", "alive", "bright", _counts(counts)),
        Stat(
            "batch",
            f"{batch[0]}",
            "context" if batch[0] == 1 else "contexts",
            "owner4",
            _muted(plural(batch[1], "token")),
        ),
        _pass(state),
    )


def _pass(state: MonitorState) -> Stat:
    """A pass is one answer to a program; a tick, of which it may take several, one round of the engine."""
    if not state.computes:
        restores = any(context.activity == "restoring" for context in state.contexts.values())
        return Stat("pass", "·", "", "accent", _muted("restoring" if restores else "idle"))
    return Stat("pass", duration(_latency(state)), "", "accent", _muted(f"tick {duration(state.tick_seconds)}"))


def _latency(state: MonitorState) -> float:
    """Of a pass; 0 while no batch is computed."""
    return state.latency_seconds if state.computes else 0.0


def _muted(text: str) -> tuple[Piece, ...]:
    return (Piece(text, "muted"),)


def _used(state: MonitorState) -> str:
    return f"{state.pages.used / state.pages.total:.0%} used" if state.pages.total else ""


def _pressure(state: MonitorState) -> str:
    return "contested" if state.price else "all bids fit"


def _counts(counts: Mapping[str, int]) -> tuple[Piece, ...]:
    """How many living programs are in each state."""
    return tuple(
        Piece(f"{MARKS[status]}{counts.get(status, 0)} ", STATUS_TONES[status] if counts.get(status) else "muted")
        for status in LIVING
    )
