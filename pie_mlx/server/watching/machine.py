"""The machine of the engine: what its memory and its processors are used for."""

import os
from collections.abc import Callable

from pie_mlx.engine.pressure import MemoryReading, level_of, memory_reader
from pie_mlx.gpu_meter.gpu_reading import NO_GPU, GpuReading
from pie_mlx.runtime.process_memory import residency
from pie_mlx.system import swap_bytes


def machine_figures(
    read: Callable[[], MemoryReading | None] | None = None,
    swap: Callable[[], tuple[int, int]] = swap_bytes,
    load: Callable[[], tuple[float, float, float]] = os.getloadavg,
    gpu: Callable[[], GpuReading] = lambda: NO_GPU,
) -> dict[str, object]:
    """Bytes of memory and swap, the level of pressure ("" if unknown), and how many processes wanted a processor,
    averaged over a minute; and what the `gpu` does. Takes milliseconds where many programs run."""
    reading = (read or memory_reader())()
    own, whole = residency(os.getpid(), alone=True), residency(os.getpid())
    swap_used, swap_total = swap()
    try:
        wanted = load()[0]
    except OSError:
        wanted = 0.0
    return {
        "memory_bytes": reading.total_bytes if reading else 0,
        "available_bytes": reading.available_bytes if reading else 0,
        "pressure": level_of(reading).name.lower() if reading else "",
        "swap_used_bytes": swap_used,
        "swap_bytes": swap_total,
        "engine_bytes": own.resident_bytes,
        "programs_bytes": max(0, whole.resident_bytes - own.resident_bytes),
        "processors": os.cpu_count() or 0,
        "load": wanted,
        "gpu": gpu(),
    }
