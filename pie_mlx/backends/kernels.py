"""Backends with Metal kernels, run by the Apple GPU or by an emulator."""

import os

from pie_mlx.backends.base import Backend, Progress
from pie_mlx.backends.device import SHARED_POOL_BYTES
from pie_mlx.metal.checks.selfcheck import checked
from pie_mlx.metal.emulator import Builder, Emulator, cache_folder
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher, metal_launcher
from pie_mlx.metal.record import record_file


class AppleBackend(Backend):
    """The Apple GPU, with the kernels that passed their check on this machine. MLX operations replace the others."""

    def launcher(self, progress: Progress | None) -> KernelLauncher:
        """The kernels that work here. Checks them first if this machine has no record yet."""
        return checked(metal_launcher(), record_file(os.environ), progress)


class EmulatorBackend(Backend):
    """Does on a CPU what the Apple backend does on a GPU, in the same steps. Tests pass a launcher of their own."""

    float32_only = True
    compiles = False
    largest_pool_bytes = SHARED_POOL_BYTES

    def __init__(self, launcher: KernelLauncher | None = None) -> None:
        self._launcher = launcher

    @property
    def name(self) -> str:
        return "CPU with emulated kernels"

    def launcher(self, progress: Progress | None) -> KernelLauncher:
        """All kernels. The emulator compiles each at its first launch."""
        return self._launcher or emulator_launcher(Emulator(Builder(cache_folder(os.environ))))
