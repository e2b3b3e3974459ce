"""The state of an evolution strategy with diagonal covariance (Z1, Z4)."""

from collections.abc import Mapping
from dataclasses import dataclass

import mlx.core as mx


@dataclass(frozen=True, slots=True)
class Matrix:
    """The strategy's view of one matrix, float32 in the matrix's shape.

    `variance` is the diagonal of C, `step_path` p_s, `shape_path` p_c. `number` tells the matrices of a layer apart.
    """

    layer: int
    number: int
    variance: mx.array
    step_path: mx.array
    shape_path: mx.array


@dataclass(frozen=True, slots=True)
class EvolutionState:
    """`downs` and `ups` are by the path of the projection, step sizes `sigmas` by layer."""

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
        """Path, whether it is `down`, and the matrix; in the order of their numbers in each layer."""
        found = [(path, True, matrix) for path, matrix in self.downs.items()]
        found += [(path, False, matrix) for path, matrix in self.ups.items()]
        return sorted(found, key=lambda entry: (entry[2].layer, entry[2].number))

    def arrays(self) -> list[mx.array]:
        """Everything that is to be computed before the state is used."""
        matrices = (*self.downs.values(), *self.ups.values())
        return [array for one in matrices for array in (one.variance, one.step_path, one.shape_path)]
