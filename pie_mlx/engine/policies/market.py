"""Pages and rows by bid: rules Q2 and Q3."""

from functools import cached_property
from typing import final

from pie_mlx.engine.market import Holding, demand_price, effective_bid
from pie_mlx.engine.policies.base import Rank
from pie_mlx.engine.policies.plan import Plan
from pie_mlx.engine.policies.planner import make_plan
from pie_mlx.engine.policies.reason import Reason, ReasonKind
from pie_mlx.engine.policies.turnover import due_window_ticks, is_parked, move_cost
from pie_mlx.engine.policies.view import ContextView, View


@final
class MarketOrder:
    """The highest effective bid first; who asks less than another bids yields.

    A context asks for its pages what it bids and what moving it would cost. A restore takes them only for more than
    that, so two equal bidders never take turns in evicting each other. For the same reason a defaulted account yields
    to paying ones, and among defaulted ones bids of 0 decide.
    """

    leaves_room = True

    def __init__(self, view: View) -> None:
        self._view = view
        self._limits = view.limits

    def page_rank(self, context: ContextView) -> Rank:
        waited = context.waiting_ticks
        overdue = waited if waited >= self._window else 0
        effective = effective_bid(self._standing_bid(context), waited, self._highest, self._window)
        return (-overdue, -effective, -waited, context.account, context.context)

    batch_rank = page_rank

    def victim_rank(self, context: ContextView) -> Rank:
        return (*self._ask(context), context.bid, -context.account, -context.context)

    def yields(self, victim: ContextView, requester: ContextView) -> bool:
        ask, offer = self._ask(victim), self._ask(requester)
        return ask <= offer if requester.resident else ask < offer

    def why_not(self, victim: ContextView, requester: ContextView, pages: int) -> Reason | None:
        bid, offer = self._standing_bid(victim), self._standing_bid(requester)
        if bid >= offer or self.yields(victim, requester):
            return None
        return Reason(
            ReasonKind.STAYS,
            requester.bid,
            victim.bid,
            pages=pages,
            waited_ticks=requester.waiting_ticks,
            move_cost=move_cost(victim, self._limits, self._highest),
            hint=victim.hint,
        )

    def why(self, victim: ContextView, requester: ContextView, pages: int) -> Reason:
        kind = ReasonKind.DEFAULTED if victim.defaulted else ReasonKind.OUTBID
        return Reason(
            kind, victim.bid, requester.bid, price=self.price(), pages=pages, suspended=True, hint=victim.hint
        )

    def price(self) -> float:
        return self._price

    @cached_property
    def _window(self) -> float:
        return due_window_ticks(self._limits)

    @cached_property
    def _highest(self) -> float:
        return max((context.bid for context in self._view.contexts), default=0.0)

    @cached_property
    def _price(self) -> float:
        lacking = {request.context: request.pages for request in self._view.requests}
        holdings = (
            Holding(item.context, item.account, item.bid, item.pages, lacking.get(item.context, 0))
            for item in self._view.contexts
        )
        return demand_price(holdings, self._view.capacity_pages)

    def _ask(self, context: ContextView) -> tuple[float, bool]:
        """The bid that a newcomer must exceed; an account in default yields to an equal one that pays."""
        cost = move_cost(context, self._limits, self._highest)
        return (self._standing_bid(context) + cost, not context.defaulted)

    def _standing_bid(self, context: ContextView) -> float:
        """The bid that counts: 0 for an account in default, and for a context that holds pages for nothing."""
        return 0.0 if context.defaulted or is_parked(context, self._limits) else context.bid


@final
class MarketPolicy:
    """`market`: see `MarketOrder`."""

    name = "market"
    sells_pages = True

    def plan(self, view: View) -> Plan:
        return make_plan(view, MarketOrder(view))
