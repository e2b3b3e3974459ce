"""What verifying drafts takes."""

SHARED_STREAMS = 16
"""Streams of a batch beyond which the cost is taken to grow no more."""


def window_cost(drafted: int, streams: int) -> float:
    """What a window of drafts takes beyond a plain step, in plain steps of one of the `streams` that share the batch.

    Measured without a GPU (`benchmarks.speculation`). In company a plain step takes little, and one that is saved saves
    even less, as the batch is computed for the others anyway.
    """
    others = min(max(streams, 1), SHARED_STREAMS) - 1
    return 0.15 + 0.25 * others + (0.06 + 0.02 * others) * drafted
