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
from pie_mlx.tui.model.text import age, count, credits, duration, rate, size
from pie_mlx.tui.model.views.program_groups import grouped, is_group
from pie_mlx.tui.model.views.program_row import LIVING, ProgramRow
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.screens.columns import MARKS, OVERVIEW
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.chart import Chart
from pie_mlx.tui.widgets.column import Column
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


MOST_MODELS = 6
"""Without the focus: with it the panel can be given the whole screen."""
FRAME_LINES = 3
_TONES = {"loaded": "good", "loading": "accent", "unloading": "accent", "failed": "bad"}


def _name(row: ModelRow) -> Piece:
    return Piece(row.name, "bright" if row.state == "loaded" else "muted")


def _state(row: ModelRow) -> Piece:
    progress = "" if row.progress is None else f" {row.progress * 100:.0f} %"
    return Piece(row.state + progress, _TONES.get(row.state, "muted"))


def _memory(row: ModelRow) -> int:
    return row.size_bytes if row.state in ("loaded", "unloading") else 0


def _drafts(row: ModelRow) -> Piece:
    return _or_dot(row.draft_model)


def _leaves(row: ModelRow) -> Piece:
    left = row.expires_in_seconds
    return Piece(row.stays if left is None else f"in {age(left)}", "muted")


def _or_dot(text: str) -> Piece:
    return Piece(text) if text and text != "0" else Piece("·", "faint")


def _pages(row: ModelRow) -> Piece:
    return _or_dot(f"{row.pages.used}/{row.pages.total}" if row.pages else "")


def _rate(row: ModelRow) -> Piece:
    return _or_dot(rate(row.tokens_per_second))


def _price(row: ModelRow) -> Piece:
    return Piece("·", "faint") if row.price is None else Piece(credits(row.price))


Models = Column[ModelRow]
MODELS = (
    Models("model", 16, _name, most=36),
    Models("state", 12, _state),
    Models("memory", 9, lambda row: _or_dot(size(_memory(row)) if _memory(row) else ""), _memory, "right", 70, True),
    Models("pages", 11, _pages, lambda row: row.pages.used if row.pages else -1, "right", descending=True),
    Models("price", 6, _price, lambda row: row.price or 0.0, "right", descending=True),
    Models("tok/s", 6, _rate, lambda row: row.tokens_per_second, "right", show_from=90, descending=True),
    Models("progs", 5, lambda row: _or_dot(f"{row.processes}"), lambda row: row.processes, "right", 90, True),
    Models("draft model", 12, _drafts, show_from=100, most=24),
    Models("leaves", 0, _leaves),
)


class OverviewScreen(MonitorScreen):
    NAME = "overview"
    AUTO_FOCUS = "#top"
    BINDINGS: ClassVar = place_bindings("overview")

    def __init__(self) -> None:
        super().__init__()
        self.figures = StatRow(id="figures")
        self.tokens = Chart("Decoded tokens", "good", rate, id="tokens-chart", unit=" tok/s")
        self.used = Chart("Pages used", "main", count, id="pages-chart")
        self.price = Chart("Clearing price", "warn", credits, id="price-chart", unit=" cr")
        self.latency = Chart("Pass latency", "accent", duration, id="latency-chart")
        self.pool = ShareBar("Pool", id="pool")
        self.models = Table[ModelRow](MODELS, lambda row: row.name, title="Models", id="models")
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
        history, samples = state.history, state.pool.history
        self.tokens.show(state.token_rates, state.tokens_per_second)
        self.used.show([sample.used for sample in samples], state.pages.used, top=max(1, state.pages.total))
        self.price.show([sample.price for sample in samples], state.price)
        self.used.name_border(view.of_model("Pages used"))
        self.price.name_border(view.of_model("Clearing price"))
        self.latency.show([sample.latency_seconds for sample in history], _latency(state))
        self.pool.show(page_shares(state.pages))
        self.pool.name_border(view.of_model("Pool"))
        self._show_models(view)
        self.top.empty = view.no_programs
        self.top.show(grouped(view.programs)[:TOP_PROGRAMS])
        self.top.name_border(subtitle=f"{len(view.programs)}, most pages first")

    def _show_models(self, view: View) -> None:
        """All of several, the one whose pages and prices are shown selected."""
        several = view.models if len(view.models) > 1 else ()
        self.set_class(bool(several), "-several")
        self.models.styles.height = len(several[:MOST_MODELS]) + FRAME_LINES
        self.models.show(several)
        if several and self.models.selected != view.state.pool.name:
            self.models.select(view.state.pool.name)
        self.models.name_border(subtitle="pages, price and bids are those of the selected one")

    def on_table_selected(self, message: Table.Selected) -> None:
        if message.table is self.models:
            self.monitor.show_model(message.key)

    def selected_process(self) -> str:
        return "" if is_group(self.top.selected) else self.top.selected

    def action_open(self) -> None:
        """Open a program; of a row that stands for several, the list of all; of a model, its pages."""
        if self.models.has_focus:
            self.monitor.show_tab("pages")
        elif is_group(self.top.selected):
            self.monitor.show_tab("inferlets")
        else:
            super().action_open()


def figures(view: View) -> tuple[Stat, ...]:
    """The six figures at the top. Pages and price are those of one model."""
    state = view.state
    whose = _whose(view)
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


def _whose(view: View) -> str:
    """Of several models, which one's pages and price are shown; and the state of one that has none."""
    pool = view.state.pool
    name = pool.name if len(view.models) > 1 else ""
    if pool.state == "loaded":
        return f"of {name}" if name else ""
    return f"{name} {pool.state}".strip()


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
