"""A page pool, and the row batches that are kept from step to step."""

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
    """The memory under attention plans. Evaluate `arrays()` at the end of every step."""

    pool: KvPool
    batches: RowBatches = field(init=False)

    def __post_init__(self) -> None:
        self.batches = self.pool.batches()

    def arrays(self) -> list[mx.array]:
        """Every array that a step may write."""
        return self.pool.arrays() + self.batches.arrays()

    def revision(self, layers: range) -> "Revision":
        """Records the present arrays of `layers`, to restore them later."""
        return Revision(self.pool.revision(layers), [(array, array[...]) for array in self.batches.arrays(layers)])

    def recover(self) -> None:
        """Drops pending writes of a step that failed while it was computed."""
        self.pool.recover()

    def mend(self, error: Exception) -> bool:
        """Returns whether to retry what failed with `error`.

        Disables the kernels that may have caused it, and logs one line. The pages keep what was computed before.
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
    """The earlier arrays of a memory, kept while a step is built that may never be computed.

    Release it before that step is evaluated: arrays that are still held cannot be written in place.
    """

    _restore_pool: Callable[[], None]
    _rows: list[tuple[mx.array, mx.array]]

    def restore(self) -> None:
        """Discards what was built since."""
        self._restore_pool()
        for array, before in self._rows:
            array[...] = before
        self._rows.clear()
