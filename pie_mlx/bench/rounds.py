"""Rounds of two contestants."""

import statistics
from collections.abc import Awaitable, Callable


async def alternating(
    peer: Callable[[], float], ours: Callable[[], Awaitable[float]], repeats: int
) -> tuple[float, float]:
    """Medians of rounds that take turns, so that a busy machine is busy for both."""
    theirs: list[float] = []
    mine: list[float] = []
    for _ in range(repeats):
        theirs.append(peer())
        mine.append(await ours())
    return statistics.median(theirs), statistics.median(mine)
