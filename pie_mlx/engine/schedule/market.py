"""Pages and rows by bid: rules Q2 and Q3."""

from functools import cached_property
from typing import final

from pie_mlx.engine.market import Holding, demand_price, effective_bid
from pie_mlx.engine.schedule.base import Rank
from pie_mlx.engine.schedule.plan import Plan
from pie_mlx.engine.schedule.planner import make_plan
from pie_mlx.engine.schedule.reason import Reason, ReasonKind
from pie_mlx.engine.schedule.view import ContextView, View


@final
class MarketOrder:
    """The highest effective bid first; a lower declared bid yields.

    A restore takes pages of strictly lower bids only, so two equal bidders never take turns in evicting each other.
    For the same reason a defaulted account yields to paying ones, and among defaulted ones bids of 0 decide.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._window = view.limits.aging_window_ticks
        self._highest = max((context.bid for context in view.contexts), default=0.0)

    def page_rank(self, context: ContextView) -> Rank:
        effective = effective_bid(_standing_bid(context), context.waiting_ticks, self._highest, self._window)
        return (-effective, -context.waiting_ticks, context.account, context.context)

    batch_rank = page_rank

    def victim_rank(self, context: ContextView) -> Rank:
        return (not context.defaulted, context.bid, -context.account, -context.context)

    def yields(self, victim: ContextView, requester: ContextView) -> bool:
        if victim.defaulted and not requester.defaulted:
            return True
        bid, against = _standing_bid(victim), _standing_bid(requester)
        return bid <= against if requester.resident else bid < against

    def why(self, victim: ContextView, requester: ContextView, pages: int) -> Reason:
        kind = ReasonKind.DEFAULTED if victim.defaulted else ReasonKind.OUTBID
        return Reason(kind, victim.bid, requester.bid, price=self.price(), pages=pages, suspended=True)

    def price(self) -> float:
        return self._price

    @cached_property
    def _price(self) -> float:
        lacking = {request.context: request.pages for request in self._view.requests}
        holdings = (
            Holding(item.context, item.account, item.bid, item.pages, lacking.get(item.context, 0))
            for item in self._view.contexts
        )
        return demand_price(holdings, self._view.capacity_pages)


def _standing_bid(context: ContextView) -> float:
    """The bid that counts in ranks and rights: that of an account in default counts as 0."""
    return 0.0 if context.defaulted else context.bid


@final
class MarketPolicy:
    """`market`: see `MarketOrder`."""

    name = "market"
    sells_pages = True

    def plan(self, view: View) -> Plan:
        return make_plan(view, MarketOrder(view))
