"""How simulated programs bid."""

from typing import Protocol

from pie_mlx.engine.market import Account, auto_bid, horizon, share
from pie_mlx.engine.schedule.simulation.workload import Program, Turn


class Bidder(Protocol):
    """Called before each pass of a context; answers credits per page and tick."""

    def bid(
        self, program: Program, account: Account, turn: Turn, generated: int, pages: int, account_pages: int
    ) -> float: ...


class AutoBidder:
    """The automatic bid of a generator (B4 to B6)."""

    def __init__(self, page_size: int) -> None:
        self._page_size = page_size

    def bid(
        self, program: Program, account: Account, turn: Turn, generated: int, pages: int, account_pages: int
    ) -> float:
        part = share(pages, account_pages)
        expected = horizon(generated, turn.max_tokens)
        return auto_bid(account.balance * part, account.dividend * part, pages, expected, self._page_size)


class ValueBidder:
    """A fixed bid: the value of the program's tokens."""

    def bid(
        self, program: Program, account: Account, turn: Turn, generated: int, pages: int, account_pages: int
    ) -> float:
        return program.value
