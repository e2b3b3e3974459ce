"""What makes a CPU fast. Nothing else depends on this room: without it kernels and GPUs work all the same."""

from pie_mlx.backends.cpu.backend import CpuBackend

__all__ = ["CpuBackend"]
