"""The screen of the market: the price, the bids, the balances, and contexts suspended for others."""

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from textual.containers import Container
from textual.widget import Widget

from pie_mlx.plural import plural
from pie_mlx.tui.model import MonitorState
from pie_mlx.tui.model.model_pool import AccountState
from pie_mlx.tui.model.state import Eviction
from pie_mlx.tui.model.text import age, credits, one_line
from pie_mlx.tui.model.views.order_book import Demand, order_book
from pie_mlx.tui.screens.base import MonitorScreen, place_bindings
from pie_mlx.tui.view import View
from pie_mlx.tui.widgets.canvas import Piece
from pie_mlx.tui.widgets.chart import Chart, sparkline
from pie_mlx.tui.widgets.column import Column
from pie_mlx.tui.widgets.palette import STATUS_TONES, owner_tone
from pie_mlx.tui.widgets.table import Table

BAR_CELLS = 20
TREND_CELLS = 20


class BookRow(NamedTuple):
    """A demand, or the line where the pool ends (`demand` None, with a `text`)."""

    key: str
    demand: Demand | None
    account: int
    text: str = ""
    scale: float = 1


def book_rows(state: MonitorState) -> list[BookRow]:
    """The order book with the clearing line after the last page that fits."""
    demands = order_book(state)
    scale = max([state.pages.total, *(demand.until for demand in demands)], default=1) or 1
    rows: list[BookRow] = []
    line = BookRow("line", None, 0, f"price {credits(state.price)}")
    for demand in demands:
        if demand.filled < demand.pages and line not in rows:
            rows.append(line)
        context = state.contexts[demand.context]
        rows.append(BookRow(str(demand.context), demand, context.account, scale=scale))
    return rows


def depth(row: BookRow) -> list[Piece]:
    """The demand's place in the pool: pages that fit are solid, the others hollow."""
    if row.demand is None:
        return [Piece("╌╌╌ the pool ends ╌╌╌"[:BAR_CELLS], "warn")]
    start = int((row.demand.until - row.demand.pages) * BAR_CELLS / row.scale)
    cells = max(1, round(row.demand.pages * BAR_CELLS / row.scale)) if row.demand.pages else 0
    filled = round(cells * row.demand.filled / row.demand.pages) if row.demand.pages else 0
    tone = owner_tone(row.account)
    return [Piece(" " * start), Piece("█" * filled, tone), Piece("░" * (cells - filled), tone)]


def named(program: str, context: int, tone: str = "") -> list[Piece]:
    """A context by its number, which no long name may push out, and its program's name."""
    return [Piece(f"#{context} ", "muted"), Piece(program.partition("@")[0], tone)]


def _bid(row: BookRow) -> Piece:
    return Piece(credits(row.demand.bid), "bright") if row.demand else Piece("╌╌╌╌╌╌", "warn")


def _demanded(row: BookRow) -> float:
    return row.demand.pages if row.demand else 0.0


def _pages(row: BookRow) -> str:
    return f"{row.demand.pages:.0f}" if row.demand else ""


def _until(row: BookRow) -> Piece:
    return Piece(f"{row.demand.until:.0f}" if row.demand else "", "muted")


def _program(row: BookRow) -> list[Piece]:
    if row.demand is None:
        return [Piece(row.text, "warn")]
    return named(row.demand.program, row.demand.context, "" if row.demand.filled else "muted")


def _status(row: BookRow) -> Piece:
    status = row.demand.status if row.demand else ""
    return Piece(status, STATUS_TONES.get(status, ""))


Book = Column[BookRow]
BOOK = (
    Book("bid", 6, _bid, lambda row: row.demand.bid if row.demand else 0.0, "right", descending=True),
    Book("pages", 5, _pages, _demanded, "right", descending=True),
    Book("until", 5, _until, lambda row: row.demand.until if row.demand else 0.0, "right", show_from=76),
    Book("place in the pool", BAR_CELLS, depth, _demanded, show_from=64, descending=True),
    Book("state", 9, _status, show_from=56),
    Book("program", 0, _program),
)


class Wallet(NamedTuple):
    account: AccountState
    program: str


Wallets = Column[Wallet]
WALLETS = (
    Wallets("program", 0, lambda row: Piece(row.program, owner_tone(row.account.id))),
    Wallets(
        "balance over time",
        TREND_CELLS,
        lambda row: _trend(row.account),
        lambda row: row.account.balance,
        show_from=50,
        descending=True,
    ),
    Wallets(
        "credits",
        7,
        lambda row: Piece(credits(row.account.balance), "bright"),
        lambda row: row.account.balance,
        "right",
        descending=True,
    ),
    Wallets(
        "rent",
        6,
        lambda row: Piece(credits(row.account.rent), "muted"),
        lambda row: row.account.rent,
        "right",
        descending=True,
    ),
    Wallets(
        "gets",
        6,
        lambda row: Piece(credits(row.account.dividend), "muted"),
        lambda row: row.account.dividend,
        "right",
        show_from=44,
        descending=True,
    ),
)
Evictions = Column[Eviction]
EVICTIONS = (
    Evictions("suspended", 0, lambda row: named(row.program, row.context)),
    Evictions("for", 0, lambda row: named(row.for_program, row.for_context, "good")),
    Evictions("why", 0, lambda row: Piece(_why(row), "muted"), show_from=64, share=2),
)


def _why(row: Eviction) -> str:
    """The reason without what the other columns say."""
    return one_line(row.reason.removeprefix("suspended: ")).replace("clearing price", "price")


def _trend(account: AccountState) -> Piece:
    """Every fourth sample, scaled between the lowest and the highest: only the trend matters."""
    balances = account.balances[::-4][::-1][-TREND_CELLS:]
    tone = owner_tone(account.id)
    low, high = min(balances, default=0.0), max(balances, default=0.0)
    if high - low < 0.01:
        return Piece(("▄" * len(balances)).rjust(TREND_CELLS), tone)
    return Piece(sparkline([balance - low + (high - low) / 8 for balance in balances], TREND_CELLS), tone)


def wallets(state: MonitorState) -> list[Wallet]:
    """Accounts, richest first, by the program that opened them."""
    names: dict[int, str] = {}
    for process in state.processes.values():
        if process.account:
            names.setdefault(process.account, process.program)
    accounts = sorted(state.accounts.values(), key=lambda account: -account.balance)
    return [Wallet(account, names.get(account.id, "no context yet")) for account in accounts]


class MarketScreen(MonitorScreen):
    NAME = "market"
    BINDINGS: ClassVar = place_bindings("market")

    def __init__(self) -> None:
        super().__init__()
        self.price = Chart("Clearing price", "warn", credits, id="price-history", unit=" cr per page and tick")
        self.book = Table[BookRow](BOOK, lambda row: row.key, title="Order book", id="book", empty="no bids")
        self.wallets = Table[Wallet](
            WALLETS, lambda row: str(row.account.id), title="Balances", id="wallets", empty="no account"
        )
        self.evictions = Table[Eviction](
            EVICTIONS, _eviction_key, title="Made way", id="evictions", empty="no context had to make way"
        )

    def body(self) -> Iterator[Widget]:
        yield Container(self.price, self.book, id="left")
        yield Container(self.wallets, self.evictions, id="right")

    def show_body(self, view: View) -> None:
        state = view.state
        self.price.show([sample.price for sample in state.pool.history], state.price)
        self.price.name_border(view.of_model("Clearing price"))
        book = book_rows(state)
        self.book.show(book if self.book.is_in_source_order else [row for row in book if row.demand])
        wanted = sum(row.demand.pages for row in book if row.demand)
        depth = f"{plural(round(wanted), 'page')} wanted of {state.pages.total}"
        self.book.name_border(view.of_model("Order book"), depth)
        self.wallets.show(wallets(state))
        self.wallets.name_border(subtitle=f"treasury {credits(state.pool.treasury)}")
        self.evictions.show([made for made in state.evictions[::-1] if made.model in ("", state.pool.name)])
        self.evictions.name_border(subtitle=_latest(state))

    def selected_process(self) -> str:
        row = self.book.selected_item
        return row.demand.process if row and row.demand else ""


def _eviction_key(row: Eviction) -> str:
    return f"{row.seconds} {row.context}"


def _latest(state: MonitorState) -> str:
    return f"latest {age(state.seconds - state.evictions[-1].seconds)} ago" if state.evictions else ""
