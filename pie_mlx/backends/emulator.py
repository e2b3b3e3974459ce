"""The Metal kernels where there is no Apple GPU: an emulator runs them, a CPU everything else."""

import os

from pie_mlx.backends.base import Backend, Progress
from pie_mlx.backends.memory import SHARED_POOL_BYTES
from pie_mlx.metal.emulator import Builder, Emulator, cache_folder
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher


class EmulatorBackend(Backend):
    """Computes on a CPU what a GPU would compute, in the same steps. Takes what launches kernels, for tests."""

    float32_only = True
    largest_pool_bytes = SHARED_POOL_BYTES

    def __init__(self, launcher: KernelLauncher | None = None) -> None:
        self._launcher = launcher

    @property
    def name(self) -> str:
        return "CPU with emulated kernels"

    def launcher(self, progress: Progress | None) -> KernelLauncher:
        """Every kernel; the emulator compiles each when it is first launched."""
        return self._launcher or emulator_launcher(Emulator(Builder(cache_folder(os.environ))))
