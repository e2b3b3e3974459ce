"""The Apple GPU with pie-mlx's own Metal kernels."""

import os

from pie_mlx.backends.base import Backend, Progress
from pie_mlx.metal.checks.first_check import checked
from pie_mlx.metal.launcher import KernelLauncher, metal_launcher
from pie_mlx.metal.record import record_file


class AppleBackend(Backend):
    """Kernels that proved right on this machine; MLX operations instead of the others."""

    def launcher(self, progress: Progress | None) -> KernelLauncher:
        """The kernels less those that fail here; checks them first where that was never done."""
        return checked(metal_launcher(), record_file(os.environ), progress)
