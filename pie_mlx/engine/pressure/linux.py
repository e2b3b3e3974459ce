"""The memory of a Linux machine, and of the cgroups that this process is in."""

import re
from collections.abc import Iterator
from pathlib import Path

from pie_mlx.engine.pressure.reading import MemoryReading


def read_linux(root: Path = Path("/")) -> MemoryReading | None:
    """The reading from /proc below `root`, or from the tightest cgroup. None if neither can be read."""
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
