"""The screen of the pool by owner, and the tree of forks."""

import contextlib
from collections.abc import Iterator, Sequence
from functools import partial
from math import inf
from typing import ClassVar

import msgspec
from textual.containers import Container
from textual.widget import Widget

from pie_mlx.errors import PieError
from pie_mlx.plural import plural
from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.context import activity
from pie_mlx.tui.model.pool_books import USED, DiskModel, PoolBooks, PoolGroup, StateSlot
from pie_mlx.tui.model.text import count, one_line
from pie_mlx.tui.model.views.context_tree import TreeRow, context_tree
from pie_mlx.tui.model.views.page_words import page_lines
from pie_mlx.tui.model.views.pool import HeldPages, booked_pages, held_pages
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.grid import Grid
from pie_mlx.tui.widgets.page_map import LEGEND_LINES, PageMap, Runs
from pie_mlx.tui.widgets.palette import STATUS_TONES, owner_tone
from pie_mlx.tui.widgets.share_bar import Share
from pie_mlx.tui.widgets.table import Table
from pie_mlx.tui.widgets.transcript import wrapped

BAR_CELLS = 24
ASK_SECONDS = 1.0
DISK = (("model", 14), ("pages", 6), ("size", 7))
TOOLTIP_CELLS = 60


HEAT = (
    (1.0, "bad", "used now"),
    (10.0, "warn", "in 10 s"),
    (60.0, "main", "in a minute"),
    (inf, "muted", "longer ago"),
)
"""How long ago pages were used, at most; the tone of such pages, and its name."""


LOOKS = ("owner", "last use", "disk")
"""What the colours of pages tell."""
RESTING = (
    ("snapshot", "snapshots", "of snapshots, which no context holds"),
    ("kept", "kept", "kept for a while, as its program asked"),
    ("cached", "cached", "cached, free to take"),
    ("withheld", "withheld", "withheld, as the system is short of memory"),
    ("free", "free", "free"),
)
"""Kinds of pages that no context holds, their names, and what is said of them."""


def pool_shares(state: MonitorState, *, look: str = LOOKS[0]) -> list[Share]:
    """The pool by holder, or by the last use of its pages, as events tell, with a text for each."""
    return [
        *(_held_share(each, state.seconds, look) for each in held_pages(state)),
        Share("cached", state.pages.cached, "faint" if look == LOOKS[1] else "muted", text="cached, free to take"),
        Share("free", state.pages.free, "faint", text="free"),
    ]


def book_shares(state: MonitorState, books: PoolBooks, *, look: str = LOOKS[0]) -> tuple[list[Share], Runs]:
    """The same from the engine's books, and the physical pages in the order of the shares, if all are known."""
    held = booked_pages(state, books)
    shares = [_held_share(each, state.seconds, look) for each in held]
    runs = [run for each in held for run in each.runs]
    for kind, name, text in RESTING:
        for group in (group for group in books.groups if group.kind == kind):
            shares.append(_resting_share(name, group, text, look))
            runs += group.pages
    known = sum(count for _, count in runs) == sum(share.amount for share in shares)
    return shares, runs if known else []


def _held_share(held: HeldPages, now: float, look: str) -> Share:
    name, tone = held.owner, owner_tone(held.account) if held.account >= 0 else "bright"
    if look == LOOKS[1]:
        tone, name = next((tone, name) for most, tone, name in HEAT if now - held.used_seconds <= most)
    if look == LOOKS[2]:
        name, tone = _on_disk(held.stored)
    return Share(name, held.pages, tone, held.shared, held.described(now))


def _resting_share(name: str, group: PoolGroup, text: str, look: str) -> Share:
    tone = "muted" if look == LOOKS[0] and group.kind != "free" else "faint"
    if look == LOOKS[2] and group.kind != "free":
        name, tone = _on_disk(group.stored)
    return Share(name, group.count, tone, text=text)


def _on_disk(stored: bool) -> tuple[str, str]:
    return ("also on disk", "good") if stored else ("in memory only", "muted")


def legend(shares: Sequence[Share]) -> list[Share]:
    """The shares by name; owners whose pages are all shared are hatched."""
    sums: dict[tuple[str, str], list[Share]] = {}
    for share in shares:
        sums.setdefault((share.name, share.tone), []).append(share)
    return [
        Share(name, sum(share.amount for share in alike), tone, all(share.hatched for share in alike))
        for (name, tone), alike in sums.items()
    ]


class TreeLine(TreeRow, frozen=True):
    """A row of the tree, with the data of its columns."""

    program: str
    status: str
    most_pages: int


def tree_lines(state: MonitorState) -> list[TreeLine]:
    """The forest, each context with its program."""
    most = max((context.own_pages + context.shared_pages for context in state.pool_contexts), default=1)
    names = {process.id: process.program for process in state.processes.values()}
    return [
        TreeLine(
            row.context,
            row.branches,
            names.get(row.context.process, ""),
            activity(row.context, state.seconds),
            max(1, most),
        )
        for row in context_tree(state)
    ]


def _name(row: TreeLine) -> list[Piece]:
    tone = owner_tone(row.context.account)
    program = "" if row.branches else row.program
    return [Piece(row.branches, "faint"), Piece(f"#{row.context.id} ", tone), Piece(program, "bright")]


def _alone(row: TreeLine) -> TreeLine:
    """The row without its place in the tree."""
    return msgspec.structs.replace(row, branches="")


def _bar(row: TreeLine) -> list[Piece]:
    """Shared pages hollow, own pages solid."""
    held = _held(row)
    cells = [round(number * BAR_CELLS / row.most_pages) for number in (row.context.shared_pages, held)]
    tone = owner_tone(row.context.account)
    return [Piece("▒" * cells[0], tone), Piece("█" * (cells[1] - cells[0]), tone)]


def _held(row: TreeLine) -> int:
    return row.context.own_pages + row.context.shared_pages


def _shared(row: TreeLine) -> int:
    return row.context.shared_pages


def _own(row: TreeLine) -> int:
    return row.context.own_pages


def _tokens(row: TreeLine) -> int:
    return row.context.held_tokens


def _passes(row: TreeLine) -> int:
    return row.context.passes


Tree = Column[TreeLine]
TREE = (
    Tree("context", 0, _name, lambda row: row.context.id),
    Tree("state", 9, lambda row: Piece(row.status, STATUS_TONES[row.status])),
    Tree("▒ shared █ own", BAR_CELLS, _bar, _held, show_from=70, descending=True),
    Tree("shared", 6, lambda row: Piece(f"{row.context.shared_pages}", "muted"), _shared, "right", 50, True),
    Tree("own", 5, lambda row: f"{row.context.own_pages}", _own, "right", descending=True),
    Tree("tokens", 6, lambda row: Piece(f"{row.context.held_tokens}", "muted"), _tokens, "right", descending=True),
    Tree("passes", 6, lambda row: Piece(f"{row.context.passes or '·'}", "muted"), _passes, "right", 80, True),
)


class PageBox(Canvas):
    """The page under the cursor."""

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id, classes="panel")
        self.name_border("Page")
        self._lines_of_page: Sequence[str] = ()

    @property
    def text(self) -> str:
        """All of it, for a tooltip."""
        return "\n".join(part for line in self._lines_of_page for part in wrapped(line, TOOLTIP_CELLS))

    def show(self, lines: Sequence[str]) -> None:
        self._lines_of_page = lines
        self.repaint()

    def paint(self, width: int, height: int) -> list[Line]:
        shown = [part for line in self._lines_of_page for part in wrapped(line, max(1, width))]
        return [[Piece(line, "bright" if place == 0 else "")] for place, line in enumerate(shown)]


def disk_row(stock: DiskModel, model: str) -> list[Piece]:
    """A model in the disk cache; the engine's own stands out."""
    name = one_line(stock.model) or "(of another version)"
    tone = "bright" if stock.model == model else ""
    return [Piece(name, tone), Piece(count(stock.pages)), Piece(f"{count(stock.size_bytes)}B", "muted")]


def _kept(slot: StateSlot) -> str:
    return " ".join(f"{tokens:,}" for tokens in slot.kept)


States = Column[StateSlot]
STATES = (
    States("ctx", 6, lambda slot: Piece(f"#{slot.context}", "main"), lambda slot: slot.context, "right"),
    States("pages", 12, lambda slot: " ".join(map(str, slot.pages))),
    States("after", 7, lambda slot: f"{slot.tokens:,}" if slot.tokens is not None else "", align="right"),
    States("also kept after token", 0, _kept),
)


class PagesScreen(MonitorScreen):
    """Asks the engine for its pool once a second, as long as it is seen."""

    NAME = "pages"
    AUTO_FOCUS = "#tree"
    BINDINGS: ClassVar = place_bindings("pages")

    def __init__(self) -> None:
        super().__init__()
        self.map = PageMap(id="map")
        self.page = PageBox(id="page")
        self.disk = Grid("Disk cache", DISK, id="disk")
        self.states = Table[StateSlot](
            STATES, lambda slot: str(slot.context), title="States of recurrent layers", id="states", empty="none"
        )
        self._look = LOOKS[0]
        self._books: PoolBooks | None = None
        self._asked_seconds = 0.0
        self._asked_model = ""
        self.forest = Table[TreeLine](
            TREE,
            lambda row: str(row.context.id),
            title="Contexts and their forks",
            id="tree",
            empty="no context holds pages",
        )

    def body(self) -> Iterator[Widget]:
        yield self.map
        yield Container(self.page, self.forest, Container(self.disk, self.states, id="tiers"), id="contexts")

    def show_body(self, view: View) -> None:
        pages = view.state.pages
        books = self._books if self._asked_model == view.model else None
        self.map.styles.height = None if self.has_class("-wide") else self._map_height(pages.total)
        shares, runs = pool_shares(view.state, look=self._look), list[tuple[int, int]]()
        figures = pages.used, pages.shared, pages.cached, pages.free
        if books is not None:
            shares, runs = book_shares(view.state, books, look=self._look)
            figures = books.count(*USED), books.shared, books.count("cached", "kept"), books.count("snapshot", "free")
        on_disk = [Share("in the spill file", view.state.pool.spilled_pages, "owner5", hatched=True)]
        self.map.show(shares, [*legend(shares), *on_disk], runs)
        text = "{} used, {} of them shared, {} cached, {} free".format(*figures)
        past = view.state.seconds - self._asked_seconds if books is not None else 0.0
        when = f", {past:.1f} s ago" if past >= 0.1 else ""
        stored = f", {books.stored} also on disk" if books is not None and books.disk else ""
        pool = view.state.pool
        self.map.empty = "" if pool.state == "loaded" else f"the model is {pool.state}: it has no pages"
        self.map.name_border(f"{view.of_model('Pool')} by {self._look}{when}: {text}{stored}")
        self._show_tiers(books or PoolBooks())
        lines = tree_lines(view.state)
        self.forest.show(lines if self.forest.is_in_source_order else [_alone(line) for line in lines])
        self.forest.name_border(subtitle=plural(len(lines), "context"))

    def _show_tiers(self, books: PoolBooks) -> None:
        """What lies beside the pool, if anything does."""
        self.set_class(bool(books.disk or books.states), "-tiers")
        self.disk.show([disk_row(each, books.model) for each in books.disk])
        self.disk.display, self.states.display = bool(books.disk), bool(books.states)
        self.states.show(books.states)

    # Asking.

    def on_mount(self) -> None:
        super().on_mount()
        self.set_interval(ASK_SECONDS, self.ask)

    def on_screen_resume(self) -> None:
        super().on_screen_resume()
        self.ask()

    def ask(self) -> None:
        """Ask for the pool, if somebody looks."""
        if self.is_current and not self.monitor.view.paused:
            self.run_worker(self._ask, exclusive=True, group="pool")

    async def _ask(self) -> None:
        before = self._books
        try:
            asked, model = self.monitor.view.state.seconds, self.monitor.view.model
            self._books = await self.monitor.source.pool(model)
            self._asked_seconds, self._asked_model = asked, model
        except (PieError, OSError):
            self._books = None  # an older engine, or none: events still tell how many pages there are
        if before is None or self._books is None:  # else the next refresh shows it
            self.show_body(self.monitor.view)

    def on_page_map_pointed(self, message: PageMap.Pointed) -> None:
        self.run_worker(partial(self._ask_page, message.page), exclusive=True, group="page")

    async def _ask_page(self, number: int) -> None:
        with contextlib.suppress(PieError, OSError):
            page = await self.monitor.source.page(number, self.monitor.view.model)
            self.page.show(page_lines(page, self.monitor.view.state) if page is not None else [])
            self.map.explain(self.page.text)

    def on_descendant_focus(self) -> None:
        self.set_class(self.map.has_focus, "-detail")

    def on_descendant_blur(self) -> None:
        self.set_class(self.map.has_focus, "-detail")

    def action_heat(self) -> None:
        looks = LOOKS if self._books is not None and self._books.disk else LOOKS[:2]
        self._look = looks[(looks.index(self._look) + 1) % len(looks)] if self._look in looks else LOOKS[0]
        self.show_body(self.monitor.view)

    def _map_height(self, pages: int) -> int:
        """The height that the pool needs, at most a third of the screen."""
        rows = -(-pages * 2 // max(1, self.size.width - 4))
        return min(rows + LEGEND_LINES + 2, self.size.height // 3)

    def show_program(self, process: str) -> None:
        contexts = self.monitor.view.state.contexts.values()
        found = [context for context in contexts if context.process == process]
        if not found:
            self.monitor.say("it holds no context")
            return
        model = self.monitor.view.state.pool.name
        first = next((context for context in found if context.model == model), found[0])
        self.monitor.show_model(first.model)
        self.forest.select(str(first.id))

    def selected_process(self) -> str:
        row = self.forest.selected_item
        return row.context.process if row else ""
