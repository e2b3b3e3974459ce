"""One line of a comparison."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens per second, seconds or bytes on both sides, and the ratio in our favour."""

    name: str
    peer: float
    ours: float
    unit: str
    lower_is_better: bool = False
    against: str = "mlx-lm"

    @property
    def ratio(self) -> float:
        """Above 1 if pie-mlx is better."""
        return self.peer / self.ours if self.lower_is_better else self.ours / self.peer

    def text(self) -> str:
        """The line in the format of `benchmarks.decode`."""
        return f"{self.name:44} {self.peer:12,.3f} {self.ours:12,.3f} {self.unit:9} {self.ratio:7.2f}x"
