"""A step that runs ahead of those who will ask for it."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import mlx.core as mx

from pie_mlx.engine.model.batch import Work, is_read_alike
from pie_mlx.engine.model.reading import Reading


@dataclass(slots=True)
class Ahead:
    """A step that runs behind the last one: its `logits` [rows, vocabulary] and `hidden` states, a row of each of
    `works`; since when; and what these are foreseen to read of it, where that is known of all."""

    works: Sequence[Work]
    logits: mx.array
    hidden: mx.array | None
    foreseen: Reading | None = None
    begun: float = field(default_factory=time.perf_counter)

    @staticmethod
    def of(works: Sequence[Work], logits: mx.array, hidden: mx.array | None) -> "Ahead":
        """Before anything of it is computed."""
        ahead = Ahead(works, logits, hidden)
        if all(work.reads for work in works):
            ahead.foreseen = ahead._reading(works)
        return ahead

    @property
    def outputs(self) -> list[mx.array]:
        """What is computed of it before anybody asks."""
        return [self.logits] if self.foreseen is None else self.foreseen.outputs

    def reading(self, works: Sequence[Work]) -> Reading:
        """What some of the contexts read: other than foreseen, that is still to be computed."""
        alike = len(works) == len(self.works) and all(map(is_read_alike, self.works, works))
        return self.foreseen if alike and self.foreseen is not None else self._reading(works)

    def _reading(self, works: Sequence[Work]) -> Reading:
        rows = {work.context: row for row, work in enumerate(self.works)}
        reads = [[(rows[work.context], read) for read in work.reads] for work in works]
        return Reading(self.logits.astype(mx.float32), reads, self.hidden)
