"""The bid of a context for its pages: the automatic bid, overrides and idle scopes (B)."""

import math
from dataclasses import dataclass

from inferlet._calls.checks import number
from inferlet._calls.host import HostLink
from pie_mlx.calls import Rebid, SetBid
from pie_mlx.errors import InvalidArgumentError

Horizon = tuple[float, float]
"""Expected remaining tokens, and the squared coefficient of variation of that number."""

UNKNOWN_HORIZON: Horizon = (4096.0, 1.0)


@dataclass(slots=True)
class Bidding:
    """The bids of one context. `override` is a bid set by hand that still holds; `idle_depth` counts open scopes."""

    host: HostLink
    context_id: int
    override: float | None = None
    idle_depth: int = 0
    resume_due: bool = False

    def set(self, bid: float) -> float:
        """Declare a bid by hand; returns the one in effect. Raises InvalidArgumentError for NaN and +infinity (B1)."""
        wanted = max(number(bid, "set_bid"), 0.0)
        if math.isnan(wanted) or wanted == math.inf:
            raise InvalidArgumentError(f"set_bid: {bid} is not a bid", hint="pass a finite number of credits")
        held = 0.0 if self.idle_depth else self.host.call(SetBid(self.context_id, wanted))
        self.override = wanted
        return held

    def prime(self, horizon: Horizon) -> None:
        """A Generator starts: the automatic bid replaces an override (B2, B7)."""
        if not self.idle_depth:
            self._rebid(horizon)
        self.override = None
        self.resume_due = False

    def for_raw_pass(self) -> Horizon | None:
        """The automatic bid of a pass outside Generators; None leaves the bid alone (B2)."""
        return None if self.idle_depth or self.override is not None else UNKNOWN_HORIZON

    @property
    def serves_one_pass(self) -> bool:
        """Whether the bid in effect is for the next pass only: one set by hand (B2)."""
        return self.override is not None and not self.idle_depth

    def for_step(self, horizon: Horizon, *, rebid: bool) -> Horizon | None:
        """The automatic bid of a Generator's step; None leaves the bid alone (B2, B8)."""
        if self.idle_depth or self.override is not None:
            return None
        return horizon if rebid or self.resume_due else None

    def step_done(self) -> None:
        """A Generator's step ran: an override has served its one pass (B2)."""
        if not self.idle_depth:
            self.resume_due = self.override is not None
            self.override = None

    def enter_idle(self) -> None:
        """Bid 0 until the scope closes."""
        if not self.idle_depth:
            self.host.call(SetBid(self.context_id, 0.0))
        self.idle_depth += 1

    def leave_idle(self, *, has_pages: bool) -> None:
        """Close a scope; the outermost one restores the override, else makes a new automatic bid (B8)."""
        self.idle_depth -= 1
        if self.idle_depth:
            return
        if self.override is not None:
            self.host.call(SetBid(self.context_id, self.override))
        elif has_pages:
            self._rebid(UNKNOWN_HORIZON)

    def _rebid(self, horizon: Horizon) -> None:
        remaining_tokens, variation = horizon
        self.host.post(Rebid(self.context_id, remaining_tokens, variation))
