"""First come, first served: the order of programs decides, and nothing has a price."""

from typing import final

from pie_mlx.engine.policies.base import Rank
from pie_mlx.engine.policies.plan import Plan
from pie_mlx.engine.policies.planner import make_plan
from pie_mlx.engine.policies.reason import Reason, ReasonKind
from pie_mlx.engine.policies.turnover import due_window_ticks
from pie_mlx.engine.policies.view import ContextView, View


@final
class FirstComeOrder:
    """Pages go to the older account and context, which may take those of newer ones; rows go by arrival.

    Age, unlike arrival, is one strict order for the whole life of a program: the oldest that has work always gets
    its pages, keeps them and finishes, then the next. Due contexts come before (Q2), which bounds the wait of the
    young ones.
    """

    leaves_room = False

    def __init__(self, window_ticks: float) -> None:
        self._window = window_ticks

    def page_rank(self, context: ContextView) -> Rank:
        return (-self._overdue(context), context.account, context.context)

    def batch_rank(self, context: ContextView) -> Rank:
        return (-self._overdue(context), context.arrival, context.account, context.context)

    def victim_rank(self, context: ContextView) -> Rank:
        return (-context.account, -context.context)

    def yields(self, victim: ContextView, requester: ContextView) -> bool:
        return (victim.account, victim.context) > (requester.account, requester.context)

    def why(self, victim: ContextView, requester: ContextView, pages: int) -> Reason:
        return Reason(ReasonKind.NEWER, victim.bid, requester.bid, pages=pages, suspended=True)

    def why_not(self, victim: ContextView, requester: ContextView, pages: int) -> Reason | None:
        return None

    def price(self) -> float:
        return 0.0

    def _overdue(self, context: ContextView) -> int:
        return context.waiting_ticks if context.waiting_ticks >= self._window else 0


@final
class FirstComePolicy:
    """`fcfs`: see `FirstComeOrder`."""

    name = "fcfs"
    sells_pages = False

    def plan(self, view: View) -> Plan:
        return make_plan(view, FirstComeOrder(due_window_ticks(view.limits)))
