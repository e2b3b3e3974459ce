"""What programs say of pages that they will need again, as bids: hints propose, the market decides and charges."""

import math

import msgspec

from pie_mlx.errors import InvalidArgumentError

LONGEST_SECONDS = 3600.0
"""The longest time to live of a hint."""
HIGHEST_PRIORITY = 1000.0
PREPAID_SECONDS = 300.0
"""What the make cost of a page pays for, in advance and at priority 1."""
OVERDUE_PART = 0.25
"""A context that is overdue is expected within the time that it is late, and at least this part of what it said."""


class Retention(msgspec.Struct, frozen=True):
    """Until `until_seconds`, the pages of a context that does nothing are worth `priority` times what computing them
    again would cost. It is expected back at `back_seconds`. All in seconds of the engine's clock."""

    priority: float
    made_seconds: float
    back_seconds: float
    until_seconds: float

    def holds(self, now: float) -> bool:
        return now < self.until_seconds

    def bid(self, now: float, tick_seconds: float, page_price: float) -> float:
        """In credits per page and tick: rent at this bid comes to the value of the pages until the expected return."""
        if not self.holds(now):
            return 0.0
        late = now - self.back_seconds
        left = max(-late, late, OVERDUE_PART * (self.back_seconds - self.made_seconds))
        return (
            self.priority * page_price / max(1.0, left / tick_seconds) if tick_seconds else self.priority * page_price
        )

    def text(self, now: float) -> str:
        """For reasons, e.g. `retained at priority 1 for 52 s more, expected back in 8 s`."""
        back = (
            f", expected back in {self.back_seconds - now:.0f} s"
            if now < self.back_seconds < self.until_seconds
            else ""
        )
        return f"retained at priority {self.priority:g} for {self.until_seconds - now:.0f} s more{back}"


def retained(before: Retention | None, priority: float, ttl_seconds: float, now: float) -> Retention:
    """A declared retention; what is known of the return stays. Raises InvalidArgumentError."""
    _check("priority", priority, HIGHEST_PRIORITY)
    _check("ttl_seconds", ttl_seconds, math.inf)
    until = now + min(ttl_seconds, LONGEST_SECONDS)
    if before is not None and now < before.back_seconds <= until:
        return Retention(priority, before.made_seconds, before.back_seconds, until)
    return Retention(priority, now, until, until)


def expected_back(before: Retention | None, seconds: float, now: float) -> Retention:
    """A context will be used again in about `seconds`; without a retention it is one for four times as long. Raises
    InvalidArgumentError."""
    _check("seconds", seconds, math.inf)
    seconds = min(seconds, LONGEST_SECONDS)
    until = now + min(4 * seconds, LONGEST_SECONDS)
    if before is None or not before.holds(now):
        return Retention(1.0, now, now + seconds, until)
    return Retention(before.priority, now, now + seconds, max(before.until_seconds, until))


def prepaid_cost(pages: int, priority: float, ttl_seconds: float, page_price: float) -> float:
    """Credits for keeping pages that no context holds for `ttl_seconds`. Priority 0 keeps none."""
    return pages * page_price * paid_priority(priority) * ttl_seconds / PREPAID_SECONDS if priority else 0.0


def paid_priority(priority: float) -> float:
    """What pages that no context holds are kept and paid at: below 1 they would be kept as well, for almost nothing."""
    return max(1.0, priority)


def _check(what: str, value: float, most: float) -> None:
    if not 0 <= value <= most or math.isinf(value):
        limit = "a finite number from 0" if math.isinf(most) else f"0 to {most:g}"
        raise InvalidArgumentError(f"{what}: {value}", hint=f"pass {limit}")
