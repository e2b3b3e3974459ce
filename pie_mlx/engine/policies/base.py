"""The contract of a policy, and the order that it gives to the planner."""

from typing import Protocol

from pie_mlx.engine.policies.plan import Plan
from pie_mlx.engine.policies.reason import Reason
from pie_mlx.engine.policies.view import ContextView, View

Rank = tuple[float, ...]
"""Sorts ascending: the smallest rank is served first."""


class Policy(Protocol):
    """Decides a tick. Pure: it mutates nothing, waits for nothing, keeps nothing between calls and never raises.

    Always safe to call, also twice with one view: equal views give equal plans. Every policy keeps Q4 to Q8: nothing
    is suspended when pages are available, a batch is never empty while something is runnable, and each context whose
    need fits the pool gets its turn.
    """

    name: str
    sells_pages: bool
    """Whether contexts pay rent: the clearing price of M7 if so, else a price of 0."""

    def plan(self, view: View) -> Plan: ...


class Order(Protocol):
    """What distinguishes one policy from another: who is first, and who has to yield to whom.

    Made for one view. `yields` answers Q3 (a) to (c) and must be monotone along `victim_rank`: once a victim does not
    yield, none after it does. The rights of due and fresh contexts are the planner's own.
    """

    leaves_room: bool
    """Whether a newcomer waits while those who work need what is free to grow (Q6). Not where it has a right to pages
    by its age or priority alone."""

    def page_rank(self, context: ContextView) -> Rank:
        """The rank of a context among those that wait for pages."""
        ...

    def batch_rank(self, context: ContextView) -> Rank:
        """The rank of a context among those that want a row."""
        ...

    def victim_rank(self, context: ContextView) -> Rank:
        """The rank of a context among those that have to yield: the first goes first."""
        ...

    def yields(self, victim: ContextView, requester: ContextView) -> bool:
        """Whether `victim` gives its pages to `requester` though that one is not due."""
        ...

    def why(self, victim: ContextView, requester: ContextView, pages: int) -> Reason:
        """The reason of a suspension that `yields` allowed."""
        ...

    def why_not(self, victim: ContextView, requester: ContextView, pages: int) -> Reason | None:
        """Why `requester` does not get the pages of `victim` though it bids more; None where nothing keeps it from it
        but its bid."""
        ...

    def price(self) -> float:
        """The clearing price to name in reasons, in credits per page and tick; 0 where nothing is sold."""
        ...
