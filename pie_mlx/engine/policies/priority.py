"""Declared bids as fixed priorities: no prices, no ageing but the due rule."""

from typing import final

from pie_mlx.engine.policies.base import Rank
from pie_mlx.engine.policies.plan import Plan
from pie_mlx.engine.policies.planner import make_plan
from pie_mlx.engine.policies.reason import Reason, ReasonKind
from pie_mlx.engine.policies.turnover import due_window_ticks
from pie_mlx.engine.policies.view import ContextView, View


@final
class PriorityOrder:
    """The higher declared bid first, then the older account and context; the others yield in the opposite order."""

    leaves_room = False

    def __init__(self, window_ticks: float) -> None:
        self._window = window_ticks

    def page_rank(self, context: ContextView) -> Rank:
        return (-self._overdue(context), -context.bid, context.account, context.context)

    def batch_rank(self, context: ContextView) -> Rank:
        return (-self._overdue(context), -context.bid, context.arrival, context.context)

    def victim_rank(self, context: ContextView) -> Rank:
        return (context.bid, -context.account, -context.context)

    def yields(self, victim: ContextView, requester: ContextView) -> bool:
        return self.victim_rank(victim) < self.victim_rank(requester)

    def why(self, victim: ContextView, requester: ContextView, pages: int) -> Reason:
        kind = ReasonKind.NEWER if victim.bid == requester.bid else ReasonKind.OUTBID
        return Reason(kind, victim.bid, requester.bid, pages=pages, suspended=True)

    def why_not(self, victim: ContextView, requester: ContextView, pages: int) -> Reason | None:
        return None

    def price(self) -> float:
        return 0.0

    def _overdue(self, context: ContextView) -> int:
        return context.waiting_ticks if context.waiting_ticks >= self._window else 0


@final
class PriorityPolicy:
    """`priority`: see `PriorityOrder`."""

    name = "priority"
    sells_pages = False

    def plan(self, view: View) -> Plan:
        return make_plan(view, PriorityOrder(due_window_ticks(view.limits)))
