"""A device on which one kernel fails from some launch on, in the ways of Metal."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import mlx.core as mx

from pie_mlx.metal.emulator import Builder, Emulator
from pie_mlx.metal.kernel import KernelSource
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher

How = Literal["compile", "pipeline", "launch", "run"]
"""`compile` and `run` fail when something is evaluated, `run` tells it once; the others while the graph is built."""

NEVER_COMPILES = "[BlockMaskedMM::eval]"
"""What MLX says of such a product in float16, whenever it is evaluated: as of a source that Metal does not compile."""

RUNS_WRONG = "[Inverse::eval_cpu] LU factorization failed"
"""What MLX says, at some later time and only once, of a matrix that has no inverse: as of a command buffer on a GPU."""


@dataclass
class Failing:
    """Kernel `name` works for `good` launches, then never again."""

    builder: Builder
    name: str
    how: How = "compile"
    good: int = 0
    launches: int = field(default=0, init=False)

    @property
    def launcher(self) -> KernelLauncher:
        emulated = emulator_launcher(Emulator(self.builder))

        def make(source: KernelSource) -> Callable[..., list[mx.array]]:
            kernel = emulated.make(source)
            return self._watched(kernel) if source.name == f"pie_{self.name}" else kernel

        return replace(emulated, make=make)

    def _watched(self, kernel: Callable[..., list[mx.array]]) -> Callable[..., list[mx.array]]:
        def launch(**given: object) -> list[mx.array]:
            self.launches += 1
            if self.launches <= self.good:
                return kernel(**given)
            match self.how:
                case "pipeline":
                    raise RuntimeError(f"[metal::Device] Unable to load kernel custom_kernel_pie_{self.name}_float32\n")
                case "launch":
                    raise ValueError("Thread group size (1024) is greater than  the maximum allowed (896).")
                case "compile":
                    return [output + never_compiles().astype(output.dtype) for output in kernel(**given)]
                case "run":
                    return [output + _runs_wrong().astype(output.dtype) for output in kernel(**given)]

        return launch


def never_compiles() -> mx.array:
    """A number that cannot be evaluated."""
    halves = mx.ones((64, 64), mx.float16)
    return mx.block_masked_mm(halves, halves, 32, mx.ones((2, 2), mx.bool_))[0, 0]


def _runs_wrong() -> mx.array:
    return mx.linalg.inv(mx.zeros((2, 2)), stream=mx.cpu)[0, 0]
