"""Two sides measured in turns, and the row that compares them."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens per second, seconds or bytes of both sides, and their ratio."""

    name: str
    peer: float
    ours: float
    unit: str
    lower_is_better: bool = False
    against: str = "mlx-lm"

    @property
    def ratio(self) -> float:
        """Above 1 where pie-mlx is better."""
        return self.peer / self.ours if self.lower_is_better else self.ours / self.peer

    def text(self) -> str:
        """The line as `benchmarks.decode` prints it."""
        return f"{self.name:44} {self.peer:12,.3f} {self.ours:12,.3f} {self.unit:9} {self.ratio:7.2f}x"


async def alternating(
    peer: Callable[[], float], ours: Callable[[], Awaitable[float]], repeats: int
) -> tuple[float, float]:
    """Measure the peer and this engine in turns; returns the `median_round`."""
    return median_round([(peer(), await ours()) for _ in range(repeats)])


def median_round(rounds: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """The round with the median ratio.

    Separate medians of the sides would compare different rounds. A host that slowed down for some seconds, during the
    measurement of one side, gave 0.64x and 1.60x for the same comparison.
    """
    ordered = sorted(rounds, key=lambda values: values[1] / values[0])
    return ordered[len(ordered) // 2]
