"""What an adapter is made of: low-rank pairs by projection. Immutable, so that versions can share them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import mlx.core as mx

from pie_mlx.engine.model.adapters.evolution_state import EvolutionState


class AdapterUse(NamedTuple):
    """With what a token is computed: an adapter's version and a noise seed; adapter 0 is none, seed 0 no noise."""

    adapter: int = 0
    version: int = 0
    zo_seed: int = 0


NO_ADAPTER = AdapterUse()


@dataclass(frozen=True, slots=True)
class LowRank:
    """The addition `scale * (x down) up` to one projection (A2).

    `down` [in, rank] and `up` [rank, out]; of a layer of experts [experts, in, rank] and [experts, rank, out].
    """

    down: mx.array
    up: mx.array
    scale: float

    @property
    def rank(self) -> int:
        return int(self.down.shape[-1])

    @property
    def size_bytes(self) -> int:
        return int(self.down.nbytes + self.up.nbytes)


@dataclass(frozen=True, slots=True)
class AdapterContent:
    """One version of an adapter: its additions by the path of the projection, and its evolution if it has one."""

    additions: Mapping[str, LowRank] = field(default_factory=dict[str, LowRank])
    evolution: EvolutionState | None = None

    @property
    def size_bytes(self) -> int:
        own = sum(addition.size_bytes for addition in self.additions.values())
        return own + (self.evolution.size_bytes if self.evolution else 0)

    def arrays(self) -> list[mx.array]:
        """Everything that is to be computed before the content is used."""
        pairs = [array for addition in self.additions.values() for array in (addition.down, addition.up)]
        return pairs + (self.evolution.arrays() if self.evolution else [])
