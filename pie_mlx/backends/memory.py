"""Memory where no GPU says how much it may take."""

import os
from pathlib import Path

import mlx.core as mx

SHARED_POOL_BYTES = 1 << 30
"""Largest automatically sized pool where the memory belongs to everybody on the machine."""


def available_bytes() -> int:
    """What is available and what MLX has taken already, or all there is where the system does not tell."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        lines = []
    for line in lines:
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024 + mx.get_active_memory()
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
