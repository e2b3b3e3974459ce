"""One page of the pool in words, and what lies beside the pool: the disk cache, and states of recurrent layers."""

from collections.abc import Sequence

from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.pool_books import DiskModel, PageBook, StateSlot
from pie_mlx.tui.model.text import age, clean, count, one_line
from pie_mlx.tui.widgets.canvas import Canvas, Line, Piece
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.transcript import wrapped

KINDS = {
    "held": "full",
    "working": "being filled",
    "state": "for the state of recurrent layers",
    "snapshot": "of a snapshot",
    "kept": "kept for a while",
    "cached": "cached, free to take",
    "withheld": "withheld, as the system is short of memory",
    "free": "free",
}
KEY_DIGITS = 12
DISK = (("model", 14), ("pages", 6), ("size", 7))
TOOLTIP_CELLS = 60


def page_lines(page: PageBook, state: MonitorState) -> list[str]:
    """What is known of a page: its holders, its chain, its times, and last its text."""
    holders = [_holder(number, state) for number in page.contexts]
    others = [f"{page.others} of others"] if page.others else []
    held = f", held by {', '.join([*holders, *others])}" if holders or others else ""
    lines = [f"page {page.page}: {KINDS.get(page.kind, page.kind)}{held}"]
    if page.tokens:
        lines.append(f"{page.tokens} tokens from number {page.first:,} of their text" + _user(page))
    if page.key:
        lines.append(f"key {page.key[:KEY_DIGITS]}, after {_before(page)}")
    lines.append(", ".join(filter(None, (*_times(page), *_places(page)))))
    return [*filter(None, lines), *([f"“{clean(page.text)}”"] if page.text else [])]


def _holder(number: int, state: MonitorState) -> str:
    context = state.contexts.get(number)
    process = state.processes.get(context.process) if context else None
    return f"#{number} of {one_line(process.program)} {process.id[:8]}" if process else f"#{number}"


def _user(page: PageBook) -> str:
    return f", computed for {one_line(page.user)}" if page.user else ""


def _before(page: PageBook) -> str:
    return page.after[:KEY_DIGITS] if page.first else "nothing: it is the first"


def _times(page: PageBook) -> list[str]:
    made = "" if page.made_seconds is None else f"in the pool for {age(page.made_seconds)}"
    used = "" if page.used_seconds is None else f"last used {age(page.used_seconds)} ago"
    return [made, used]


def _places(page: PageBook) -> list[str]:
    """Where else it lies."""
    state = "" if page.state_tokens is None else f"a state is kept after token {page.state_tokens:,}"
    return ["also in the disk cache" if page.stored else "", "in the spill file" if page.spilled else "", state]


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
