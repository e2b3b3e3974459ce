"""A page pool together with the mirrors of what is read from it."""

from collections.abc import Callable
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

    def revision(self, layers: range) -> "Revision":
        """What the arrays of `layers` are now, to come back to."""
        return Revision(self.pool.revision(layers), [(array, array[...]) for array in self.mirrors.arrays(layers)])

    def recover(self) -> None:
        """A step has failed while it was computed: forget what of it waits to be written."""
        self.pool.recover()


@dataclass(slots=True)
class Revision:
    """Arrays of a memory as they were, while a step that may never be computed is built over them.

    Let go of it before that step is evaluated: what is still held cannot be written in place.
    """

    _restore_pool: Callable[[], None]
    _mirrors: list[tuple[mx.array, mx.array]]

    def restore(self) -> None:
        """Forget what was built since."""
        self._restore_pool()
        for array, before in self._mirrors:
            array[...] = before
        self._mirrors.clear()
