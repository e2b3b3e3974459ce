"""What a device found out about its kernels, kept between runs: which fail, and where gathering pays."""

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mlx.core as mx

from pie_mlx.documents import json_value
from pie_mlx.files import make_private, write_file
from pie_mlx.metal.kernel import KERNEL_FOLDER
from pie_mlx.system import sysctl_text


@dataclass(frozen=True, slots=True)
class RecordKey:
    """What a record holds for: the MLX version, the system's build, the device, a digest of the kernels' sources.

    Each of them can turn a good kernel into a bad one: another of any makes a record stale.
    """

    mlx: str
    system: str
    device: str
    kernels: str


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """Kernels that failed, and the rows of a chunk from which gathering its pages was faster (None: not measured).

    `whole` tells whether every case ran, or only the first of each kernel.
    """

    failing: frozenset[str] = frozenset()
    gather_rows: int | None = None
    whole: bool = True


def record_key() -> RecordKey:
    """The key of this machine, with the device that MLX uses."""
    device = str(mx.device_info().get("device_name", "unknown"))
    return RecordKey(version("mlx"), system_build(), device, kernels_digest())


def system_build() -> str:
    """The build of the operating system: Metal's compiler comes with it."""
    return sysctl_text("kern.osversion") or platform.release()


def kernels_digest(folder: Path = KERNEL_FOLDER) -> str:
    """A digest of every kernel, its launcher and its reference."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.suffix in (".metal", ".py"):
            digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def record_file(environment: Mapping[str, str]) -> Path:
    """Where the record is kept: below $PIE_HOME, or ~/.pie."""
    home = environment.get("PIE_HOME") or str(Path(environment.get("HOME", "~")).expanduser() / ".pie")
    return Path(home) / "kernels.json"


def write_record(path: Path, key: RecordKey, record: KernelRecord, table: list[dict[str, object]]) -> None:
    """Write the record and the table it comes from as JSON. Raises OSError."""
    content = {
        **asdict(key),
        "failing": sorted(record.failing),
        "gather_rows": record.gather_rows,
        "whole": record.whole,
        "table": table,
    }
    make_private(path.parent)
    write_file(path, f"{json.dumps(content, indent=2)}\n".encode())


def read_record(path: Path, key: RecordKey) -> KernelRecord | None:
    """The record, or None if there is none for this key or it cannot be read."""
    try:
        content: Any = json_value(path.read_bytes())
        if stale_because(content, key):
            return None
        rows = content["gather_rows"]
        failing = frozenset(map(str, content["failing"]))
        return KernelRecord(failing, None if rows is None else int(rows), bool(content["whole"]))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def stale_because(content: Mapping[str, Any], key: RecordKey) -> str:
    """What a record was made with that is another now, "" if nothing. Raises KeyError where it names none."""
    names = {"mlx": "mlx {}", "system": "system build {}", "device": "{}", "kernels": "kernels {}"}
    current = asdict(key)
    return ", ".join(form.format(content[name]) for name, form in names.items() if content[name] != current[name])
