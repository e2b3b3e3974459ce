"""The screen of the pool by owner, and the tree of forks."""

from collections.abc import Iterator, Sequence
from math import inf
from typing import ClassVar

import msgspec
from textual.widget import Widget

from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.context import activity
from pie_mlx.tui.model.views.context_tree import TreeRow, context_tree
from pie_mlx.tui.model.views.pool import HeldPages, held_pages
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.page_map import LEGEND_LINES, PageMap
from pie_mlx.tui.widgets.palette import STATUS_TONES, owner_tone
from pie_mlx.tui.widgets.share_bar import Share
from pie_mlx.tui.widgets.table import Table

BAR_CELLS = 24


HEAT = (
    (1.0, "bad", "used now"),
    (10.0, "warn", "in 10 s"),
    (60.0, "main", "in a minute"),
    (inf, "muted", "longer ago"),
)
"""How long ago pages were used, at most; the tone of such pages, and its name."""


def pool_shares(state: MonitorState, *, by_heat: bool = False) -> list[Share]:
    """The pool by holder, or by the last use of its pages, with a text for each."""
    return [
        *(_held_share(each, state.seconds, by_heat) for each in held_pages(state)),
        Share("cached", state.pages.cached, "faint" if by_heat else "muted", text="cached, free to take"),
        Share("free", state.pages.free, "faint", text="free"),
    ]


def _held_share(held: HeldPages, now: float, by_heat: bool) -> Share:
    name, tone = held.owner, owner_tone(held.account) if held.account >= 0 else "bright"
    if by_heat:
        tone, name = next((tone, name) for most, tone, name in HEAT if now - held.used_seconds <= most)
    return Share(name, held.pages, tone, held.shared, held.described(now))


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
    most = max((context.own_pages + context.shared_pages for context in state.contexts.values()), default=1)
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
    Tree("passes", 6, lambda row: Piece(f"{row.context.passes}", "muted"), _passes, "right", 80, True),
)


class PagesScreen(MonitorScreen):
    NAME = "pages"
    BINDINGS: ClassVar = place_bindings("pages")

    def __init__(self) -> None:
        super().__init__()
        self.map = PageMap(id="map")
        self._by_heat = False
        self.forest = Table[TreeLine](
            TREE,
            lambda row: str(row.context.id),
            title="Contexts and their forks",
            id="tree",
            empty="no context holds pages",
        )

    def body(self) -> Iterator[Widget]:
        yield self.map
        yield self.forest

    def show_body(self, view: View) -> None:
        pages, spilled = view.state.pages, view.state.spilled_pages
        if not self.has_class("-wide"):
            self.map.styles.height = self._map_height(pages.total)
        shares = pool_shares(view.state, by_heat=self._by_heat)
        on_disk = [Share("in the spill file", spilled, "owner5", hatched=True)]
        self.map.show(shares, [*legend(shares), *on_disk])
        used = f"{pages.used} used, {pages.shared} of them shared"
        order = "last use" if self._by_heat else "owner"
        self.map.name_border(f"Pool by {order}: {used}, {pages.cached} cached, {pages.free} free")
        lines = tree_lines(view.state)
        self.forest.show(lines if self.forest.is_in_source_order else [_alone(line) for line in lines])
        self.forest.name_border(subtitle=f"{len(view.state.contexts)} contexts")

    def action_heat(self) -> None:
        self._by_heat = not self._by_heat
        self.show_body(self.monitor.view)

    def _map_height(self, pages: int) -> int:
        """The height that the pool needs, at most a third of the screen."""
        rows = -(-pages * 2 // max(1, self.size.width - 4))
        return min(rows + LEGEND_LINES + 2, self.size.height // 3)

    def show_program(self, process: str) -> None:
        contexts = self.monitor.view.state.contexts.values()
        first = next((context.id for context in contexts if context.process == process), None)
        if first is None:
            self.monitor.say("it holds no context")
        else:
            self.forest.select(str(first))

    def selected_process(self) -> str:
        row = self.forest.selected_item
        return row.context.process if row else ""
