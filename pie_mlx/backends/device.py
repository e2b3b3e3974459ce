"""Facts about the device from MLX, and about memory from the system. Only this room asks for them."""

import os
from pathlib import Path
from typing import Any

import mlx.core as mx

from pie_mlx.errors import ConfigError


def has_apple_gpu() -> bool:
    """Whether MLX has a Metal device. `mx.metal.is_available()` says only how MLX was built."""
    return mx.metal.is_available() and mx.device_count(mx.gpu) > 0


def on_gpu() -> bool:
    """Whether MLX computes on a GPU by default."""
    return mx.default_device() == mx.gpu


def check_device() -> None:
    """Raises ConfigError on a Mac that shows no GPU to this process: there MLX needs Metal's memory even to compute on
    the CPU."""
    if mx.metal.is_available() and not has_apple_gpu():
        raise ConfigError(
            "mlx: this Mac shows no GPU to programs, and MLX cannot compute without one",
            hint="run it outside any sandbox; a virtual machine needs a paravirtualised GPU",
        )


def device_report() -> dict[str, Any]:
    """Whether MLX was built with Metal, how many GPUs it sees, which device it uses, and what it reports about it."""
    return {
        "metal": mx.metal.is_available(),
        "gpus": mx.device_count(mx.gpu),
        "default": "gpu" if on_gpu() else "cpu",
        **mx.device_info(),
    }


SHARED_POOL_BYTES = 1 << 30
"""Largest automatically sized pool on a machine whose memory is shared with other work."""


def available_bytes() -> int:
    """Available memory plus what MLX already uses, or all memory if the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024 + mx.get_active_memory()
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
