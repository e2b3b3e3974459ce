"""Hints about contexts that do nothing: the bids that follow from them, and the rent."""

from pie_mlx.engine.market import Retention, Settlement
from pie_mlx.engine.market.accounting import PAGE_PRICE
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.scheduler.tick_state import TickState


def hint_of(state: TickState, live: LiveContext) -> Retention | None:
    """The hint that holds now for a context without work; None if there is none."""
    found = live.retention
    if found is None or state.has_work(live.id) or not found.holds(state.store.pool.clock()):
        return None
    return found


def bid_of(state: TickState, live: LiveContext) -> tuple[float, str]:
    """The bid that counts now, and the text of the hint that it follows from; "" without a hint."""
    found = hint_of(state, live)
    if found is None:
        return live.bid, ""
    now = state.store.pool.clock()
    return found.bid(now, state.tick_seconds, PAGE_PRICE), found.text(now)


def retained_contexts(state: TickState) -> list[int]:
    """The contexts that pay rent although they do nothing."""
    resident = (live for live in state.contexts.values() if state.store.contexts[live.id].resident)
    return [live.id for live in resident if hint_of(state, live) is not None]


def end_unpaid(state: TickState, settlement: Settlement) -> None:
    """Hints of accounts that could not pay their rent hold no longer."""
    broke = {receipt.account for receipt in settlement.receipts if receipt.rent_paid < receipt.rent_owed}
    for live in state.contexts.values() if broke else ():
        if live.account in broke:
            live.retention = None
