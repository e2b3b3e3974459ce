"""What it costs to move pages, and how long contexts therefore stay where they are: rules Q2, Q3 and Q6.

Everything follows from one measured number, T: how long it takes to bring a whole pool back (`Limits.turnover_seconds`,
and in ticks `Limits.turnover_ticks`). Where moving costs nothing, T is 0 and nothing of this applies.
"""

import math

from pie_mlx.engine.policies.view import SHORTEST_PIECES, ContextView, Limits

GROWTH_TICKS = 64
"""How far ahead pages are left free for those who work to grow into (Q6)."""

LONGEST_STRETCH = 16
"""The aging window is stretched by this at most, which keeps the wait bounded whatever is measured."""

_DUE, _LEASE, _RESIDENCY, _IDLE = 16, 8, 2, 1
"""Multiples of T, tuned with `benchmarks.market`."""

_PATIENCE_SECONDS = 0.165
"""A turnover that takes so long is worth a patience of one aging window. Tuned like the multiples."""


def due_window_ticks(limits: Limits) -> float:
    """After how many ticks of waiting a context is due (Q2)."""
    window = limits.aging_window_ticks
    return min(max(window, _DUE * limits.turnover_ticks), LONGEST_STRETCH * window)


def residency_rows(limits: Limits, waited_ticks: float = math.inf) -> float:
    """Rows that a context has at least after it came in, before it goes for a newcomer that has waited so long.

    Its rows and that wait together reach the patience, so the longer the newcomer waits, the shorter the stay: at
    least a few T, which every stay has.
    """
    least = min(_RESIDENCY * limits.turnover_ticks, _RESIDENCY * limits.aging_window_ticks)
    return max(least, patience_ticks(limits) - waited_ticks)


def patience_ticks(limits: Limits) -> float:
    """After how many ticks of waiting a stay is the shortest there is.

    Moving stops the whole device. A context that comes at any moment waits for that in proportion to how often it
    happens and, once more, to how long it takes. So turnovers that take twice as long are four times as rare.
    """
    stretch = (limits.turnover_seconds / _PATIENCE_SECONDS) ** 2
    return min(stretch, LONGEST_STRETCH) * limits.aging_window_ticks


def move_cost(context: ContextView, limits: Limits, highest_bid: float) -> float:
    """What a newcomer must bid beyond the bid of a context that works, in credits per page and tick (Q3).

    It exceeds every bid until the stay has paid for the move, and falls from then on.
    """
    if not (context.has_work and context.pages):
        return 0.0
    return (highest_bid or 1.0) * (_LEASE * limits.turnover_ticks / max(1, context.stay_rows)) ** 2


def is_parked(context: ContextView, limits: Limits) -> bool:
    """Whether a context without work has kept its pages for as long as it takes to bring them back, without a hint
    that it should."""
    return not context.has_work and not context.hint and context.idle_ticks > _IDLE * limits.turnover_ticks > 0


def longest_wait_ticks(limits: Limits, working_contexts: int, longest_context_tokens: int) -> int:
    """Ticks within which each context with work that fits the pool has a row of its own: W + N * (K + R + 2).

    W is the window after which a context is due, or the patience where that is longer, and R the shortest residency
    (both grow with the cost of moving, up to 16 and 2 aging windows). N is the number of contexts with work, and K =
    ceil(tokens of the longest context / chunk) the ticks of its replay. No headroom is asked of a due context. Those
    that are due come in the order of waiting. So at most N - 1 contexts come before it, each holding it up for the pass
    in flight, its replay, its residency and one row; the head of the batch gets whole chunks. Where those are cut for
    programs that decode (`paced`), the shortest ones count.

    Each such row makes at least one token of progress, which suspension does not undo. So a program that needs T rows
    finishes within T times this many ticks, whatever the bids.
    """
    chunk_tokens = min(limits.prefill_chunk_tokens, limits.max_batch_tokens)
    if limits.decode_stall_seconds is not None:
        chunk_tokens = min(chunk_tokens, SHORTEST_PIECES)
    replay_ticks = math.ceil(longest_context_tokens / chunk_tokens)
    residency_ticks = math.ceil(residency_rows(limits))
    window_ticks = max(due_window_ticks(limits), patience_ticks(limits))
    return math.ceil(window_ticks) + working_contexts * (replay_ticks + residency_ticks + 2)
