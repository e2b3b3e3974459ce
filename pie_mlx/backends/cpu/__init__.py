"""Everything that makes a CPU fast. No other room depends on this one: kernels and GPUs work without it."""

from pie_mlx.backends.cpu.backend import CpuBackend

__all__ = ["CpuBackend"]
