"""What MLX says of its devices. Only this room asks."""

from typing import Any

import mlx.core as mx

from pie_mlx.errors import ConfigError


def has_apple_gpu() -> bool:
    """Whether MLX has a Metal device. `mx.metal.is_available()` alone says only how MLX was built."""
    return mx.metal.is_available() and mx.device_count(mx.gpu) > 0


def on_gpu() -> bool:
    """Whether MLX computes on a GPU unless it is asked for something else."""
    return mx.default_device() == mx.gpu


def check_device() -> None:
    """Raises ConfigError on a Mac that shows no GPU to this process: MLX for macOS takes even what it computes on the
    CPU from Metal's memory."""
    if mx.metal.is_available() and not has_apple_gpu():
        raise ConfigError(
            "mlx: this Mac shows no GPU to programs, and MLX computes nothing without one",
            hint="run it outside of a sandbox, and in a virtual machine only where that has a paravirtualised GPU",
        )


def device_report() -> dict[str, Any]:
    """Whether MLX was built with Metal, how many GPUs it sees, which device it takes, and what it says of that."""
    return {
        "metal": mx.metal.is_available(),
        "gpus": mx.device_count(mx.gpu),
        "default": "gpu" if on_gpu() else "cpu",
        **mx.device_info(),
    }
