"""What an adapter is made of: low-rank pairs by projection. Immutable, so that versions can share them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import mlx.core as mx


@dataclass(frozen=True, slots=True)
class Matrix:
    """The strategy's state for one matrix, float32 in the matrix's shape.

    `variance` is the diagonal of C, `step_path` p_s, `shape_path` p_c. `number` distinguishes the matrices of a layer.
    """

    layer: int
    number: int
    variance: mx.array
    step_path: mx.array
    shape_path: mx.array


@dataclass(frozen=True, slots=True)
class EvolutionState:
    """The state of an evolution strategy with diagonal covariance (Z1, Z4). `downs` and `ups` are keyed by the path of
    the projection, `sigmas` (step sizes) by layer."""

    population_size: int
    mu_fraction: float
    initial_sigma: float
    downs: Mapping[str, Matrix]
    ups: Mapping[str, Matrix]
    sigmas: Mapping[int, float]

    @property
    def size_bytes(self) -> int:
        return sum(array.nbytes for array in self.arrays())

    def matrices(self) -> list[tuple[str, bool, Matrix]]:
        """(path, whether it is `down`, matrix), ordered by number within each layer."""
        found = [(path, True, matrix) for path, matrix in self.downs.items()]
        found += [(path, False, matrix) for path, matrix in self.ups.items()]
        return sorted(found, key=lambda entry: (entry[2].layer, entry[2].number))

    def arrays(self) -> list[mx.array]:
        """The arrays to evaluate before the state is used."""
        matrices = (*self.downs.values(), *self.ups.values())
        return [array for one in matrices for array in (one.variance, one.step_path, one.shape_path)]


class AdapterUse(NamedTuple):
    """What a token is computed with: an adapter's version and a noise seed. Adapter 0 means none, seed 0 no noise."""

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
    """One version of an adapter: its additions by path of the projection, and its evolution if any."""

    additions: Mapping[str, LowRank] = field(default_factory=dict[str, LowRank])
    evolution: EvolutionState | None = None

    @property
    def size_bytes(self) -> int:
        own = sum(addition.size_bytes for addition in self.additions.values())
        return own + (self.evolution.size_bytes if self.evolution else 0)

    def arrays(self) -> list[mx.array]:
        """The arrays to evaluate before the content is used."""
        pairs = [array for addition in self.additions.values() for array in (addition.down, addition.up)]
        return pairs + (self.evolution.arrays() if self.evolution else [])
