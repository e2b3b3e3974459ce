"""A GPU that a CPU plays."""

from pie_mlx.backends import Backend
from pie_mlx.backends.kernels import EmulatorBackend
from pie_mlx.metal.launcher import KernelLauncher


class PlayedGpu(Backend):
    """A GPU without kernels. Weights stay in float32: MLX's CPU backend multiplies few kinds of half precision."""

    float32_only = True


def played_gpu(launcher: KernelLauncher | None) -> Backend:
    """A GPU with the kernels of `launcher`, or with none."""
    return PlayedGpu() if launcher is None else EmulatorBackend(launcher)
