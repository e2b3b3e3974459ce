"""The screen of the pool by owner, and the tree of forks."""

from collections.abc import Iterator
from typing import ClassVar

from textual.widget import Widget

from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.context import activity
from pie_mlx.tui.model.views.context_tree import TreeRow, context_tree
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.page_map import LEGEND_LINES, PageMap
from pie_mlx.tui.widgets.palette import STATUS_TONES, owner_tone
from pie_mlx.tui.widgets.share_bar import Share
from pie_mlx.tui.widgets.table import Column, Table

BAR_CELLS = 24


def owner_shares(state: MonitorState) -> list[Share]:
    """Pages by account. A context owns the pages it computed; `others` are used pages without a known context."""
    owned: dict[int, int] = {}
    names: dict[int, str] = {}
    for context in state.contexts.values():
        owned[context.account] = owned.get(context.account, 0) + context.pages(state.page_size)[0]
        process = state.processes.get(context.process)
        names[context.account] = process.program.partition("@")[0] if process else f"account {context.account}"
    shares = [Share(names[account], pages, owner_tone(account)) for account, pages in sorted(owned.items())]
    # Figures of contexts are as of their latest pass, those of the pool as of the latest tick.
    shares = _within(shares, state.pages.used)
    rest = state.pages.used - sum(share.amount for share in shares)
    return [
        *shares,
        Share("others", rest, "bright"),
        Share("cached", state.pages.cached, "muted"),
        Share("free", state.pages.free, "faint"),
    ]


def _within(shares: list[Share], most: int) -> list[Share]:
    kept: list[Share] = []
    for share in shares:
        amount = min(share.amount, most)
        most -= amount
        kept.append(share._replace(amount=amount))
    return kept


class TreeLine(TreeRow, frozen=True):
    """A row of the tree, with the data of its columns."""

    program: str
    status: str
    page_size: int
    most_pages: int


def tree_lines(state: MonitorState) -> list[TreeLine]:
    """The forest, each context with its program."""
    most = max((context.held_pages(state.page_size) for context in state.contexts.values()), default=1)
    names = {process.id: process.program for process in state.processes.values()}
    return [
        TreeLine(
            row.context,
            row.branches,
            names.get(row.context.process, "") if not row.branches else "",
            activity(row.context, state.seconds),
            state.page_size,
            max(1, most),
        )
        for row in context_tree(state)
    ]


def _name(row: TreeLine) -> list[Piece]:
    tone = owner_tone(row.context.account)
    return [Piece(row.branches, "faint"), Piece(f"#{row.context.id} ", tone), Piece(row.program, "bright")]


def _bar(row: TreeLine) -> list[Piece]:
    """Shared pages hollow, own pages solid."""
    held = row.context.held_pages(row.page_size)
    shared = min(row.context.shared_pages, held)
    cells = [round(number * BAR_CELLS / row.most_pages) for number in (shared, held)]
    tone = owner_tone(row.context.account)
    strength = tone if row.status != "suspended" else "faint"
    return [Piece("▒" * cells[0], strength), Piece("█" * (cells[1] - cells[0]), strength)]


def _own(row: TreeLine) -> str:
    held = row.context.held_pages(row.page_size)
    return f"{held - min(row.context.shared_pages, held)}"


Tree = Column[TreeLine]
TREE = (
    Tree("context", 0, _name),
    Tree("state", 9, lambda row: Piece(row.status, STATUS_TONES[row.status])),
    Tree("▒ shared █ own", BAR_CELLS, _bar, show_from=70),
    Tree(
        "shared", 6, lambda row: Piece(f"{min(row.context.shared_pages, 10**6)}", "muted"), align="right", show_from=50
    ),
    Tree("own", 5, _own, align="right"),
    Tree("tokens", 6, lambda row: Piece(f"{row.context.held_tokens}", "muted"), align="right"),
    Tree("passes", 6, lambda row: Piece(f"{row.context.passes}", "muted"), align="right", show_from=80),
)


class PagesScreen(MonitorScreen):
    NAME = "pages"
    BINDINGS: ClassVar = place_bindings("pages")

    def __init__(self) -> None:
        super().__init__()
        self.map = PageMap(id="map")
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
        self.map.show(owner_shares(view.state))
        used = f"{pages.used} used, {pages.shared} of them shared"
        self.map.name_border(f"Pool: {used}, {pages.cached} cached, {pages.free} free")
        self.forest.show(tree_lines(view.state))
        on_disk = f", {spilled} pages on disk" if spilled else ""
        self.forest.name_border(subtitle=f"{len(view.state.contexts)} contexts{on_disk}")

    def _map_height(self, pages: int) -> int:
        """The height that the pool needs, at most a third of the screen."""
        rows = -(-pages * 2 // max(1, self.size.width - 4))
        return min(rows + LEGEND_LINES + 2, self.size.height // 3)

    def selected_process(self) -> str:
        row = self.forest.selected_item
        return row.context.process if row else ""
