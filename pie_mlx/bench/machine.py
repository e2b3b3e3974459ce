"""The machine and the versions that a table of figures names."""

import os
import platform
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import mlx.core as mx

from pie_mlx.system import memory_bytes, sysctl_text

LIBRARIES = ("pie-mlx", "mlx", "mlx-lm", "llguidance")


def machine() -> str:
    """Chip, cores, memory and system in one line."""
    memory = memory_bytes() / 2**30
    device = "GPU" if mx.default_device() == mx.gpu else "CPU"
    return f"{_chip()}, {os.cpu_count()} cores, {memory:.0f} GiB, {_system()}, on the {device}"


def versions() -> dict[str, str]:
    """The versions of both sides and of Python, by name."""
    import pie_mlx

    found = {name: pie_mlx.__version__ if name == "pie-mlx" else metadata.version(name) for name in LIBRARIES}
    return {**found, "python": platform.python_version()}


def today() -> str:
    """The date in UTC."""
    return datetime.now(UTC).date().isoformat()


def _chip() -> str:
    if sys.platform == "darwin":
        return sysctl_text("machdep.cpu.brand_string") or platform.machine()
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return next(iter(names), platform.machine())


def _system() -> str:
    return f"macOS {platform.mac_ver()[0]}" if sys.platform == "darwin" else f"{platform.system()} {platform.release()}"
