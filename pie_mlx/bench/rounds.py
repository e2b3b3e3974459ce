"""Rounds of two contestants."""

from collections.abc import Awaitable, Callable, Iterable


async def alternating(
    peer: Callable[[], float], ours: Callable[[], Awaitable[float]], repeats: int
) -> tuple[float, float]:
    """The peer and this engine in turns; see `median_round`."""
    return median_round([(peer(), await ours()) for _ in range(repeats)])


def median_round(rounds: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The round with the median ratio.

    Separate medians would compare different rounds: a host that halved its speed for some seconds, for the side
    measured then, made 0.64x and 1.60x of the same comparison.
    """
    ordered = sorted(rounds, key=lambda values: values[1] / values[0])
    return ordered[len(ordered) // 2]
