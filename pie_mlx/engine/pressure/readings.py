"""A system's memory at one moment, as Linux and macOS report it."""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pie_mlx.system import sysctl_number


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """Total bytes, and the bytes still available under every limit on this process.

    `stalled` is the percentage of the last seconds in which all programs waited for memory. `system_level` is macOS's
    own pressure level: 1 normal, 2 warning, 4 critical. Both are 0 if the system does not report them.
    """

    total_bytes: int
    available_bytes: int
    stalled: float = 0.0
    system_level: int = 0


ReadMemory = Callable[[], MemoryReading | None]


def memory_reader(platform: str = sys.platform) -> ReadMemory:
    """A reader for that kind of system. It returns None if nothing is known."""
    return {"darwin": read_macos, "linux": read_linux}.get(platform, lambda: None)


def read_macos(ask: Callable[[str], int | None] = sysctl_number) -> MemoryReading | None:
    """A Mac: the values that `memory_pressure` prints. None if the kernel does not report them.

    `ask` reads numeric sysctl settings.
    """
    total, free_percent = ask("hw.memsize"), ask("kern.memorystatus_level")
    if total is None or free_percent is None:
        return None
    level = ask("kern.memorystatus_vm_pressure_level")
    return MemoryReading(total, total * min(max(free_percent, 0), 100) // 100, system_level=level or 0)


def read_linux(root: Path = Path("/")) -> MemoryReading | None:
    """A Linux machine: the reading from /proc below `root`, or from the tightest cgroup of this
    process. None if neither can be read."""
    known = _numbers(_text(root / "proc/meminfo"))
    if not {"MemTotal", "MemAvailable"} <= known.keys():
        return None
    machine = MemoryReading(known["MemTotal"] << 10, known["MemAvailable"] << 10, _stalled(root))
    return min((machine, *_groups(root, machine)), key=lambda reading: reading.available_bytes)


def _stalled(root: Path) -> float:
    """avg10 of `full`: all tasks waited."""
    found = re.search(r"^full avg10=([\d.]+)", _text(root / "proc/pressure/memory"), re.MULTILINE)
    return float(found[1]) if found else 0.0


def _groups(root: Path, machine: MemoryReading) -> Iterator[MemoryReading]:
    """Every cgroup with a limit, from this process's upwards; of both versions."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            base, names = root / "sys/fs/cgroup", ("memory.max", "memory.current", "inactive_file")
        elif "memory" in controllers.split(","):
            base = root / "sys/fs/cgroup/memory"
            names = ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
        else:
            continue
        own = base / path.lstrip("/")
        for folder in (own, *own.parents):
            if folder.is_relative_to(base):
                yield from _group(folder, *names, machine)


def _group(folder: Path, limit: str, used: str, reclaimable: str, machine: MemoryReading) -> Iterator[MemoryReading]:
    most, taken = _number(folder / limit), _number(folder / used)
    if most is None or taken is None or most >= machine.total_bytes:
        return
    idle = _numbers(_text(folder / "memory.stat")).get(reclaimable, 0)
    yield MemoryReading(most, min(max(0, most - taken + idle), machine.available_bytes), machine.stalled)


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _number(path: Path) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdecimal() else None  # "max" means no limit


def _numbers(text: str) -> dict[str, int]:
    """`name: number` or `name number` by line."""
    return {name: int(number) for name, number in re.findall(r"^(\w+):?\s+(\d+)", text, re.MULTILINE)}
