"""The record of a device's kernels, kept between runs: which of them fail, and when gathering is faster."""

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
    """What a record is valid for: MLX version, system build, device, and a digest of the kernels' sources.

    A change of any of these can break a kernel, so it makes the record stale.
    """

    mlx: str
    system: str
    device: str
    kernels: str


@dataclass(frozen=True, slots=True)
class KernelRecord:
    """Kernels that failed, and the rows of a chunk from which gathering its pages was faster (None: not measured).

    `whole` says whether every case ran, or only the first case of each kernel.
    """

    failing: frozenset[str] = frozenset()
    gather_rows: int | None = None
    whole: bool = True


def record_key() -> RecordKey:
    """The key of this machine and the device that MLX uses."""
    device = str(mx.device_info().get("device_name", "unknown"))
    return RecordKey(version("mlx"), system_build(), device, kernels_digest())


def system_build() -> str:
    """The build of the operating system, which includes Metal's compiler."""
    return sysctl_text("kern.osversion") or platform.release()


def kernels_digest(folder: Path = KERNEL_FOLDER) -> str:
    """A digest of every kernel, its launcher and its reference."""
    digest = hashlib.sha256()
    for file in sorted(folder.iterdir()):
        if file.suffix in (".metal", ".py"):
            digest.update(f"{file.name}\0".encode() + file.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def record_file(environment: Mapping[str, str]) -> Path:
    """The path of the record: below $PIE_HOME, or ~/.pie."""
    home = environment.get("PIE_HOME") or str(Path(environment.get("HOME", "~")).expanduser() / ".pie")
    return Path(home) / "kernels.json"


def write_record(path: Path, key: RecordKey, record: KernelRecord, table: list[dict[str, object]]) -> None:
    """Writes the record, and the table it comes from, as JSON. Raises OSError."""
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
    """The record, or None if none is readable for this key."""
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
    """What changed since the record was made, "" if nothing. Raises KeyError if the record lacks a field."""
    names = {"mlx": "mlx {}", "system": "system build {}", "device": "{}", "kernels": "kernels {}"}
    current = asdict(key)
    return ", ".join(form.format(content[name]) for name, form in names.items() if content[name] != current[name])
