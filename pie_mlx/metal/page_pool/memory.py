"""A page pool together with what is kept of its rows from step to step."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field

import mlx.core as mx

from pie_mlx.metal.batches import RowBatches
from pie_mlx.metal.faults import one_line, passes
from pie_mlx.metal.page_pool.pool import KvPool

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class PageMemory:
    """What attention plans are built over. Evaluate `arrays()` at the end of every step."""

    pool: KvPool
    batches: RowBatches = field(init=False)

    def __post_init__(self) -> None:
        self.batches = self.pool.batches()

    def arrays(self) -> list[mx.array]:
        """Every array a step may write."""
        return self.pool.arrays() + self.batches.arrays()

    def revision(self, layers: range) -> "Revision":
        """What the arrays of `layers` are now, to come back to."""
        return Revision(self.pool.revision(layers), [(array, array[...]) for array in self.batches.arrays(layers)])

    def recover(self) -> None:
        """A step has failed while it was computed: forget what of it waits to be written."""
        self.pool.recover()

    def mend(self, error: Exception) -> bool:
        """Whether what failed with `error` is worth a second time.

        Kernels that may be to blame are not used any more, and one line of the log says so. What was computed before
        stays in the pages.
        """
        condemned = self.pool.suspects(error)
        if not condemned and not passes(error):
            return False
        self.recover()
        if condemned:
            self.pool = self.pool.without(condemned)
            self.batches = self.pool.batches()
            names, why = ", ".join(sorted(condemned)), one_line(error)
            _log.warning("metal: MLX operations are used instead of %s until the next start: %s", names, why)
        return True


@dataclass(slots=True)
class Revision:
    """Arrays of a memory as they were, while a step that may never be computed is built over them.

    Let go of it before that step is evaluated: what is still held cannot be written in place.
    """

    _restore_pool: Callable[[], None]
    _rows: list[tuple[mx.array, mx.array]]

    def restore(self) -> None:
        """Forget what was built since."""
        self._restore_pool()
        for array, before in self._rows:
            array[...] = before
        self._rows.clear()
