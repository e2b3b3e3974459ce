"""How simulated programs bid."""

from collections.abc import Mapping
from typing import Protocol

from pie_mlx.engine.market import Account, Horizon, auto_bid, share
from pie_mlx.engine.policies.simulation.workload import Program, Turn


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
        expected = Horizon(max(turn.max_tokens - generated, 1.0), turn.variation)
        return auto_bid(account.balance * part, account.dividend * part, pages, expected, self._page_size)


class RecordedBidder(AutoBidder):
    """Of each account the bid in `bids`, or what its program declared, or else the automatic bid."""

    def __init__(self, page_size: int, bids: Mapping[int, float]) -> None:
        super().__init__(page_size)
        self._bids = bids

    def bid(
        self, program: Program, account: Account, turn: Turn, generated: int, pages: int, account_pages: int
    ) -> float:
        declared = self._bids.get(program.account, turn.bid)
        if declared is not None:
            return declared
        return super().bid(program, account, turn, generated, pages, account_pages)


class ValueBidder:
    """A fixed bid: the value of the program's tokens."""

    def bid(
        self, program: Program, account: Account, turn: Turn, generated: int, pages: int, account_pages: int
    ) -> float:
        return program.value
