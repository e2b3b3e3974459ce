"""How long a context can wait at most: rules Q7 and Q8 as a formula."""

import math

from pie_mlx.engine.schedule.pace import SHORTEST_PIECES
from pie_mlx.engine.schedule.turnover import due_window_ticks, residency_rows
from pie_mlx.engine.schedule.view import Limits


def longest_wait_ticks(limits: Limits, working_contexts: int, longest_context_tokens: int) -> int:
    """Ticks within which each context with work that fits the pool has a row of its own: W + N * (K + R + 2).

    W is the window after which a context is due, R the residency (both grow with the cost of moving, up to 16 and 2
    aging windows: `turnover.py`), N the number of contexts with work, and K = ceil(tokens of the longest context /
    chunk) the ticks of its replay. No headroom is asked of a due context. It outranks each other one at the latest
    when that one had a row: an effective bid is at most A * (1 + w/W) and that of the due context at least A * w'/W
    with w' >= w + W. So at most N - 1 contexts come before it, each holding it up for the pass in flight, its replay,
    its residency and one row; the head of the batch gets whole chunks. Where those are cut for programs that decode
    (`pace.py`), the shortest ones count.

    Each such row makes at least one token of progress, which suspension does not undo. So a program that needs T rows
    finishes within T times this many ticks, whatever the bids.
    """
    chunk_tokens = min(limits.prefill_chunk_tokens, limits.max_batch_tokens)
    if limits.decode_stall_seconds is not None:
        chunk_tokens = min(chunk_tokens, SHORTEST_PIECES)
    replay_ticks = math.ceil(longest_context_tokens / chunk_tokens)
    residency_ticks = math.ceil(residency_rows(limits))
    return math.ceil(due_window_ticks(limits)) + working_contexts * (replay_ticks + residency_ticks + 2)
