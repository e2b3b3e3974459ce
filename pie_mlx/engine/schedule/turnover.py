"""What it costs to move pages, and how long contexts therefore stay where they are: rules Q2, Q3 and Q6.

Everything follows from one measured number, T: the ticks it takes to bring a whole pool back (`Limits.turnover_ticks`).
Where moving costs nothing, T is 0 and nothing of this applies.
"""

from pie_mlx.engine.schedule.view import ContextView, Limits

GROWTH_TICKS = 64
"""How far ahead pages are left free for those who work to grow into (Q6)."""

LONGEST_STRETCH = 16
"""The aging window is stretched by this at most, which keeps the wait bounded whatever is measured."""

_DUE, _LEASE, _RESIDENCY, _IDLE = 16, 8, 2, 1
"""Multiples of T, tuned with `benchmarks.market`."""


def due_window_ticks(limits: Limits) -> float:
    """After how many ticks of waiting a context is due (Q2)."""
    window = limits.aging_window_ticks
    return min(max(window, _DUE * limits.turnover_ticks), LONGEST_STRETCH * window)


def residency_rows(limits: Limits) -> float:
    """Rows of its own that whoever was brought in has at least before it goes for a newcomer, even for a due one."""
    return _RESIDENCY / _DUE * due_window_ticks(limits) if limits.turnover_ticks else 0.0


def move_cost(context: ContextView, limits: Limits, highest_bid: float) -> float:
    """What a newcomer must bid beyond the bid of a context that works, in credits per page and tick (Q3).

    More than anybody bids until its stay has paid for the move, and less and less from then on.
    """
    if not (context.has_work and context.pages):
        return 0.0
    return highest_bid * (_LEASE * limits.turnover_ticks / max(1, context.stay_rows)) ** 2


def is_parked(context: ContextView, limits: Limits) -> bool:
    """Whether a context without work has kept its pages for as long as it takes to bring them back."""
    return not context.has_work and context.idle_ticks > _IDLE * limits.turnover_ticks > 0
