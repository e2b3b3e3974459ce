"""A page pool together with the mirrors of what is read from it."""

from dataclasses import dataclass, field

import mlx.core as mx

from pie_mlx.metal.mirror import Mirrors
from pie_mlx.metal.pool import KvPool


@dataclass(slots=True)
class PageMemory:
    """What attention plans are built over. Evaluate `arrays()` at the end of every step."""

    pool: KvPool
    mirrors: Mirrors = field(init=False)

    def __post_init__(self) -> None:
        self.mirrors = Mirrors(self.pool)

    def arrays(self) -> list[mx.array]:
        """Every array a step may write."""
        return self.pool.arrays() + self.mirrors.arrays()
