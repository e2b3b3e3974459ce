"""Cut the produced tokens at stops and limits."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cut:
    """`kept` tokens are emitted; `fed` tokens go to the constraints: the kept ones and the stop that ended them."""

    kept: list[int]
    fed: list[int]

    @property
    def stopped(self) -> bool:
        """Whether a stop token ended them."""
        return len(self.fed) > len(self.kept)


def cut(tokens: Sequence[int], stops: Collection[int], remaining: int | None) -> Cut:
    """Cut at the limit and at the first stop, which is not kept (G3). A stop beyond the limit does not count."""
    within = list(tokens if remaining is None else tokens[:remaining])
    for place, token in enumerate(within):
        if token in stops:
            return Cut(within[:place], within[: place + 1])
    return Cut(within, within)
