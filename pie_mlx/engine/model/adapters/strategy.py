"""The constants of one generation of a separable CMA-ES, for one layer (Z4)."""

import math
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Strategy:
    """How much paths and variance keep and take, and the control of the step size.

    With d parameters, `expected_norm` is χ, the expected norm of d normal numbers.
    """

    keep_step: float
    take_step: float
    keep_shape: float
    take_shape: float
    keep_variance: float
    rank_one: float
    rank_mu: float
    gain: float
    expected_norm: float

    @staticmethod
    def weights_of(parents: int) -> list[float]:
        """The weights of μ = `parents` parents, best first. They sum to 1."""
        raw = [math.log(parents + 0.5) - math.log(rank) for rank in range(1, parents + 1)]
        return [value / sum(raw) for value in raw]

    @classmethod
    def of(cls, parameters: int, parents: int) -> Self:
        """The constants for d = `parameters` and μ = `parents`."""
        d = parameters
        effective = 1 / sum(weight**2 for weight in cls.weights_of(parents))
        c_c = (4 + effective / d) / (d + 4 + 2 * effective / d)
        c_s = (effective + 2) / (d + effective + 5)
        c_1 = 2 / ((d + 1.3) ** 2 + effective)
        c_mu = min(1 - c_1, 2 * (effective - 2 + 1 / effective) / ((d + 2) ** 2 + effective))
        damps = 1 + 2 * max(0.0, math.sqrt((effective - 1) / (d + 1)) - 1) + c_s
        return cls(
            keep_step=1 - c_s,
            take_step=math.sqrt(c_s * (2 - c_s) * effective),
            keep_shape=1 - c_c,
            take_shape=math.sqrt(c_c * (2 - c_c) * effective),
            keep_variance=1 - c_1 - c_mu,
            rank_one=c_1,
            rank_mu=c_mu,
            gain=c_s / damps,
            expected_norm=math.sqrt(d) * (1 - 1 / (4 * d) + 1 / (21 * d**2)),
        )

    def sigma(self, before: float, path_norm: float, initial: float, largest: float) -> float:
        """The next step size, from the norm of the step path. At least a hundredth of the initial one."""
        grown = before * math.exp(min(50.0, self.gain * (path_norm / self.expected_norm - 1)))
        return min(max(grown, initial / 100), largest)
