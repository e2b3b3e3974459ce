"""What is written down about an installed program."""

from pathlib import Path

import msgspec

from pie_mlx.documents import json_struct
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.runtime.store.kind import Kind

RECORD_FILE = "meta.json"


class Record(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One version of one program.

    The hashes are blake3 in hex: of the file as it was installed, and of the manifest's text. `installed_at` is in
    seconds since 1970. `dependencies` are the versions that were found when it was installed.
    """

    name: str
    version: str
    kind: Kind
    owner: str
    program_hash: str
    manifest_hash: str
    size_bytes: int
    installed_at: float
    dependencies: dict[str, str]

    @property
    def identity(self) -> str:
        """`name@version`."""
        return f"{self.name}@{self.version}"


def encode_record(record: Record) -> bytes:
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def read_record(folder: Path) -> Record:
    """The record in `folder`. Raises LaunchError when it is absent or damaged."""
    identity = f"{folder.parent.name}@{folder.name}"
    try:
        record = json_struct((folder / RECORD_FILE).read_bytes(), Record)
    except (OSError, InvalidArgumentError) as error:
        raise LaunchError(f"program '{identity}': its record is damaged: {error}", hint="install it again") from None
    if record.identity != identity:
        raise LaunchError(f"program '{identity}': its record is that of {record.identity}", hint="install it again")
    return record
