"""The base of all screens: the bars, the selected program, and the actions on it."""

from collections.abc import Iterator
from typing import Any, ClassVar, cast

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Container
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from pie_mlx.tui import commands
from pie_mlx.tui.actions import TABS, bindings
from pie_mlx.tui.choosing import Choice, ChooseScreen, JumpScreen
from pie_mlx.tui.dialogs import ConfirmScreen, PromptScreen, Question
from pie_mlx.tui.engine_tab import EngineMark
from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.text import clock, count, credits
from pie_mlx.tui.monitor import Monitor
from pie_mlx.tui.preferences import Order
from pie_mlx.tui.source.base import Link
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.bars import EngineBar, EngineLabel, Heading, KeyBar, Place, ReplayBar, StatusBar, TabBar
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece
from pie_mlx.tui.widgets.table import Table

TITLES = {"mcp": "MCP"}
NAMES = [(tab, TITLES.get(tab, tab.capitalize())) for tab in TABS]
BID_HOLDS = "it holds until the program's next pass, which bids anew"
LINK_TONES = {"connecting": "warn", "live": "good", "reconnecting": "bad", "replay": "main", "demo": "accent"}


class TooSmall(Canvas):
    """Shown instead of everything else when the terminal is too small."""

    def paint(self, width: int, height: int) -> list[Line]:
        size = self.app.size  # pyright: ignore[reportUnknownMemberType]
        lines = (f" {size.width}x{size.height} is too small:", " the monitor needs 80x24")
        return [[Piece(line, "warn")] for line in lines]  # two lines, which fit a narrow terminal too


class MonitorScreen(Screen[None]):
    """Subclasses give `NAME`, compose `body` and draw a view in `show_body`."""

    NAME: ClassVar[str] = ""
    TAB: ClassVar[str] = ""
    AUTO_FOCUS = "Table"
    HORIZONTAL_BREAKPOINTS: ClassVar[Any] = [(0, "-tiny"), (80, "-narrow"), (110, "-normal"), (160, "-wide")]
    VERTICAL_BREAKPOINTS: ClassVar[Any] = [(0, "-flat"), (24, "-low"), (36, "-high"), (50, "-tall")]

    def __init__(self) -> None:
        super().__init__()
        # Textual 8.2 parses all stylesheets twice for every new screen: 0.15 s for nothing, because the change of theme
        # has parsed them already. Check this with the next version.
        self._css_update_count = self.monitor._css_update_count  # pyright: ignore[reportPrivateUsage]
        self.status_bar = StatusBar()
        self._engine_bar = EngineBar()
        self._replay_bar = ReplayBar()
        self._key_bar = KeyBar()
        self._filter = Input(placeholder="regular expression; !text for rows without it; ~letters", id="filter")
        self._filtered: Table[Any] | None = None

    def compose(self) -> ComposeResult:
        yield self.status_bar
        if len(self.monitor.engines) > 1:
            yield self._engine_bar
        yield TabBar(NAMES, self.TAB or self.NAME)
        yield TooSmall(id="too-small")
        yield self._filter
        with Container(id="body"):
            yield from self.body()
        if self.monitor.source.playback is not None:
            yield self._replay_bar
        yield self._key_bar

    def body(self) -> Iterator[Widget]:
        """The screen's own widgets."""
        raise NotImplementedError

    def show_body(self, view: View) -> None:
        """Draw the contents of the screen."""
        raise NotImplementedError

    @property
    def monitor(self) -> Monitor:
        """The application."""
        return cast("Monitor", self.app)  # pyright: ignore[reportUnknownMemberType]

    def on_mount(self) -> None:
        for table in self._tables():
            if order := self.monitor.preferences.order(f"{self.NAME}/{table.id}"):
                table.set_order(order.column, order.reverse)

    def on_table_sorted(self, message: Table.Sorted) -> None:
        self.monitor.keep_order(f"{self.NAME}/{message.table.id}", Order(*message.table.order))
        self.show_body(self.monitor.view)

    def on_screen_resume(self) -> None:
        self.call_after_refresh(self.show, self.monitor.view)

    def on_resize(self) -> None:
        self.call_after_refresh(self.show, self.monitor.view)

    def show(self, view: View) -> None:
        """Draw a view; dimmed if the engine no longer answers."""
        self.set_class(bool(view.as_of), "-stale")
        self.status_bar.show(_heading(view))
        if len(view.engines) > 1:
            self._engine_bar.show([_engine_label(mark) for mark in view.engines])
        self._key_bar.show(self.monitor.key_labels(self.NAME))
        if view.playback is not None:
            self._replay_bar.show(_place(view))
        self.show_body(view)

    def selected_process(self) -> str:
        """The program that the keys act on; empty for none."""
        return ""

    def on_table_opened(self, message: Table.Opened) -> None:
        self.action_open()

    def on_tab_bar_chosen(self, message: TabBar.Chosen) -> None:
        self.monitor.show_tab(message.tab)

    def on_engine_bar_chosen(self, message: EngineBar.Chosen) -> None:
        self.monitor.show_engine(message.place)

    def on_replay_bar_sought(self, message: ReplayBar.Sought) -> None:
        self.monitor.seek_to(message.fraction)

    def action_open(self) -> None:
        if process := self.selected_process():
            self.monitor.open_process(process)

    def action_back(self) -> None:
        """Return from a maximised panel to all panels, from a filter to all rows, else leave."""
        if self.maximized is not None:
            self.minimize()
        elif self._filter.has_class("shown"):
            self._filter.value = ""
            self._leave_filter()
        else:
            self.leave()

    def leave(self) -> None:
        """Return to the overview."""
        self.monitor.show_tab(TABS[0])

    # Finding rows of the table with the focus.

    def _tables(self) -> list[Table[Any]]:
        return cast("list[Table[Any]]", list(self.query("Table")))

    def _table(self) -> Table[Any] | None:
        """The table that the keys act on."""
        focused = self.focused
        tables = self._tables()
        return next((table for table in tables if table is focused), tables[0] if tables else None)

    def action_filter(self) -> None:
        self._filtered = self._table()
        if self._filtered is not None:
            self._filter.value = self._filtered.filter
            self._filter.add_class("shown")
            self._filter.focus()

    @on(Input.Changed, "#filter")
    def _filter_changed(self, message: Input.Changed) -> None:
        if self._filtered is not None:
            self._filtered.set_filter(message.value)
            self.show_body(self.monitor.view)

    @on(Input.Submitted, "#filter")
    def _leave_filter(self) -> None:
        self._filter.set_class(bool(self._filter.value), "shown")
        if self._filtered is not None:
            self._filtered.focus()

    def action_sort_next(self) -> None:
        if table := self._table():
            table.sort_by(1)

    def action_sort_previous(self) -> None:
        if table := self._table():
            table.sort_by(-1)

    def action_reverse(self) -> None:
        if table := self._table():
            table.turn_round()

    def action_jump(self) -> None:
        self.monitor.push_screen(JumpScreen(self.focus_chain))

    def row_fields(self) -> dict[str, str]:
        """The cells of the selected row by their titles, and its whole `id`; nothing if no row is selected."""
        table = self._table()
        fields = table.fields() if table is not None else []
        if table is None or not fields:
            return {}
        return {**dict(fields), "id": self.selected_process() or table.selected}

    def action_copy_cell(self) -> None:
        """Offer the texts of the selected row, of which one is copied."""
        table, fields = self._table(), self.row_fields()
        if table is None or not fields:
            self.monitor.say("no row is selected")
            return
        texts = {"row": "\t".join(text for _, text in table.fields()), **fields}
        choices = [Choice(name, name, text) for name, text in texts.items() if text]
        self.monitor.choose(
            ChooseScreen("Copy", choices, "name of a column"), lambda name: self.monitor.copy(texts[name])
        )

    def action_show_logs(self) -> None:
        if process := self._chosen():
            self.monitor.show_program("logs", process)

    def action_show_pages(self) -> None:
        if process := self._chosen():
            self.monitor.show_program("pages", process)

    def action_show_tokens(self) -> None:
        if process := self._chosen():
            self.monitor.open_tokens(process)

    def show_program(self, process: str) -> None:
        """Show what the screen has of one program."""

    def action_copy_command(self) -> None:
        if process := self._chosen():
            self.monitor.copy(commands.logs(process))

    # Actions that change the engine ask for confirmation; then the controller runs them.

    def action_kill(self) -> None:
        if process := self._steerable():
            text = f"End {self._title(process)}? Its contexts give back their pages."
            question = Question("Kill", text, "end it", commands.kill(process))
            self.monitor.confirm(ConfirmScreen(question), lambda: self.monitor.controller.kill(process))

    def action_suspend(self) -> None:
        if process := self._steerable():
            text = f"Take the pages of {self._title(process)}? The market restores it when it can pay for them."
            question = Question("Suspend", text, "suspend it")
            self.monitor.confirm(ConfirmScreen(question), lambda: self.monitor.controller.suspend(process))

    def action_bid(self) -> None:
        if process := self._steerable():
            row = next((row for row in self.monitor.view.programs if row.id == process), None)
            price = credits(self.monitor.view.state.price)
            prompt = PromptScreen(
                f"Bid of {self._title(process)}",
                f"credits per page and tick, for all its contexts; the price is {price}\n{BID_HOLDS}",
                credits(row.bid) if row else "",
                _bid_problem,
            )
            bid = self.monitor.controller.set_bid
            self.monitor.prompt(prompt, lambda text: bid(process, float(text)), f"bid set: {BID_HOLDS}")

    def action_message(self) -> None:
        if process := self._steerable():
            prompt = PromptScreen(f"Message to {self._title(process)}", "what session.receive gives the program", "")
            self.monitor.prompt(prompt, lambda text: self.monitor.controller.send(process, text))

    def action_file(self) -> None:
        if process := self._steerable():
            prompt = PromptScreen(f"File for {self._title(process)}", "path of the file", "", _file_problem)
            self.monitor.prompt(prompt, lambda text: self.monitor.controller.send_file(process, text))

    def action_attach(self) -> None:
        if process := self._steerable():
            self.monitor.steer(lambda: self.monitor.controller.attach(process), f"attached to {self._title(process)}")

    def _chosen(self) -> str:
        process = self.selected_process()
        if not process:
            self.monitor.say("no program is selected")
        return process

    def _steerable(self) -> str:
        """The selected program; "" if it takes no commands, with a notice of the reason."""
        if self.monitor.view.refusal:
            self.monitor.say(self.monitor.view.refusal)
            return ""
        process = self._chosen()
        known = self.monitor.view.state.processes.get(process)
        if known is not None and not known.lives:
            self.monitor.say(f"{known.program} has ended")
            return ""
        return process

    def _title(self, process: str) -> str:
        known = self.monitor.view.state.processes.get(process)
        return f"{known.program} ({process[:8]}) of {known.username}" if known else process[:8]


def place_bindings(name: str) -> list[BindingType]:
    """The bindings of one screen."""
    return bindings(name)


def _heading(view: View) -> Heading:
    state = view.state
    engine = state.engine
    figures = [
        [Piece(f"{count(state.tokens_per_second)}", "bright!"), Piece(" tok/s", "muted")],
        *_of_pool(state),
        [Piece(" · ".join(filter(None, (state.pool.name, engine.policy if engine else ""))), "muted")],
    ]
    link = Link("live", "paused") if view.paused else view.link
    is_silent = bool(view.as_of) and link.state == "live"
    tone = "warn" if view.paused else "bad" if is_silent else LINK_TONES[link.state]
    word = "PAUSED" if view.paused else "SILENT" if is_silent else link.state.upper()
    return Heading(word, tone, view.subject, [figure for figure in figures if figure], view.notice)


def _of_pool(state: MonitorState) -> list[list[Piece]]:
    """The price and the pages of the model that is shown; why it has none."""
    if state.pool.state != "loaded":
        return [[Piece(state.pool.state, "warn")]]
    price = [Piece("price ", "muted"), Piece(credits(state.price), "bright!")]
    return [price, [Piece(f"{state.pages.used}", "bright!"), Piece(f"/{state.pages.total} pages", "muted")]]


def _engine_label(mark: EngineMark) -> EngineLabel:
    tone = "bad" if mark.is_gone else LINK_TONES[mark.link]
    return EngineLabel(mark.label, tone, mark.is_gone, mark.rings, mark.is_shown)


def _place(view: View) -> Place:
    playback = view.playback
    if playback is None:
        return Place(False, 0.0, "", "", "")
    now, length = clock(playback.position_seconds), clock(playback.length_seconds)
    return Place(playback.playing, playback.fraction, now, length, f"{playback.speed:g}x")


def _bid_problem(text: str) -> str:
    try:
        bid = float(text)
    except ValueError:
        return "a bid is a number"
    return "" if 0 <= bid < float("inf") else "a bid is 0 or more, and finite"


def _file_problem(text: str) -> str:
    from pathlib import Path

    return "" if Path(text).expanduser().is_file() else "there is no such file"
