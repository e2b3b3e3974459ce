"""What a device found out about its kernels, kept between runs: which fail, and where gathering pays."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """Kernels that failed, and the rows of a chunk from which gathering its pages was faster (None: not measured)."""

    failing: frozenset[str] = frozenset()
    gather_rows: int | None = None


def record_file(environment: Mapping[str, str]) -> Path:
    """Where the record is kept: below $PIE_HOME, or ~/.pie."""
    home = environment.get("PIE_HOME") or str(Path(environment.get("HOME", "~")).expanduser() / ".pie")
    return Path(home) / "kernels.json"


def write_record(path: Path, record: KernelRecord, table: list[dict[str, object]]) -> None:
    """Write the record and the table it comes from as JSON."""
    content = {
        "mlx": version("mlx"),
        "failing": sorted(record.failing),
        "gather_rows": record.gather_rows,
        "kernels": table,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=2) + "\n")


def read_record(path: Path) -> KernelRecord:
    """The record, or an empty one if there is none, it cannot be read, or another MLX version wrote it."""
    try:
        content: Any = json.loads(path.read_text())
        if content["mlx"] != version("mlx"):
            return KernelRecord()
        rows = content["gather_rows"]
        return KernelRecord(frozenset(map(str, content["failing"])), None if rows is None else int(rows))
    except (OSError, ValueError, TypeError, KeyError):
        return KernelRecord()
