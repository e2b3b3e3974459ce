"""I answer who runs now, and why not the others: pure functions over an immutable view."""

from pie_mlx.engine.policies.admission import (
    Admission,
    AdmissionTerms,
    LaunchClaim,
    check_claim,
    end_launch,
    request_launch,
)
from pie_mlx.engine.policies.base import Order, Policy
from pie_mlx.engine.policies.fcfs import FirstComePolicy
from pie_mlx.engine.policies.market import MarketPolicy
from pie_mlx.engine.policies.plan import Plan, Suspension, Wait
from pie_mlx.engine.policies.planner import (
    FireNow,
    FiringState,
    WaitSeconds,
    is_stalled,
    paced,
    when_to_fire,
)
from pie_mlx.engine.policies.priority import PriorityPolicy
from pie_mlx.engine.policies.reason import Reason, ReasonKind
from pie_mlx.engine.policies.sharing import SharingMode, UserTurns, rows_of_each
from pie_mlx.engine.policies.turnover import longest_wait_ticks
from pie_mlx.engine.policies.view import Chunk, ContextView, Limits, RequestView, SharedRun, View
from pie_mlx.errors import InvalidArgumentError

__all__ = [
    "POLICIES",
    "Admission",
    "AdmissionTerms",
    "Chunk",
    "ContextView",
    "FireNow",
    "FiringState",
    "LaunchClaim",
    "Limits",
    "Order",
    "Plan",
    "Policy",
    "Reason",
    "ReasonKind",
    "RequestView",
    "SharedRun",
    "SharingMode",
    "Suspension",
    "UserTurns",
    "View",
    "Wait",
    "WaitSeconds",
    "check_claim",
    "end_launch",
    "is_stalled",
    "longest_wait_ticks",
    "paced",
    "policy",
    "request_launch",
    "rows_of_each",
    "when_to_fire",
]

_POLICIES: tuple[Policy, ...] = (MarketPolicy(), FirstComePolicy(), PriorityPolicy())
POLICIES = tuple(item.name for item in _POLICIES)
"""The names `policy` knows."""


def policy(name: str) -> Policy:
    """The policy called `name`; `InvalidArgumentError` when there is none."""
    for item in _POLICIES:
        if item.name == name:
            return item
    raise InvalidArgumentError(f"policy {name!r}: unknown", hint=f"choose one of {', '.join(POLICIES)}")
