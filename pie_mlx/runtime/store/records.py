"""The records of installed programs on disk."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from pie_mlx.documents import json_struct
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.runtime.program.semver import Version
from pie_mlx.runtime.store.folders import names_in, repair
from pie_mlx.runtime.store.payload import Kind
from pie_mlx.runtime.store.resolution import is_version

RECORD_FILE = "meta.json"


class ProgramRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The record of one version of a program.

    The hashes are blake3 in hex: of the file as it was installed, and of the manifest's text. `installed_at` is
    Unix time. `dependencies` are the versions resolved at installation.
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


def encode_record(record: ProgramRecord) -> bytes:
    return msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n"


def read_record(folder: Path) -> ProgramRecord:
    """The record in `folder`. Raises LaunchError when it is absent or damaged."""
    identity = f"{folder.parent.name}@{folder.name}"
    try:
        record = json_struct((folder / RECORD_FILE).read_bytes(), ProgramRecord)
    except (OSError, InvalidArgumentError) as error:
        raise LaunchError(f"program '{identity}': its record is damaged: {error}", hint="install it again") from None
    if record.identity != identity:
        raise LaunchError(f"program '{identity}': its record is that of {record.identity}", hint="install it again")
    return record


@dataclass(frozen=True, slots=True)
class Records:
    """The records below `root`, at `<name>/<version>/`. Callers hold `folders.exclusive`."""

    root: Path

    def folder(self, name: str, version: str) -> Path | None:
        """Looked up in listings, because file systems that ignore case would find other names too."""
        return self.root / name / version if version in self.version_names(name) else None

    def versions(self, name: str) -> list[Version]:
        return [Version.parse(text) for text in self.version_names(name)]

    def version_names(self, name: str) -> list[str]:
        if name not in names_in(self.root):
            return []
        repair(self.root / name)
        return [text for text in names_in(self.root / name) if is_version(text)]

    def read(self, name: str, version: str) -> ProgramRecord | LaunchError:
        """A record, or the error in it."""
        try:
            return read_record(self.root / name / version)
        except LaunchError as error:
            return error

    def readable(self) -> list[ProgramRecord]:
        return [found for found in self.all() if isinstance(found, ProgramRecord)]

    def all(self) -> Iterator[ProgramRecord | LaunchError]:
        for name in sorted(names_in(self.root)):
            for version in sorted(self.versions(name)):
                yield self.read(name, str(version))

    def holds(self, record: ProgramRecord) -> bool:
        """Whether exactly these contents are installed."""
        found = self.read(record.name, record.version)
        hashes = record.program_hash, record.manifest_hash
        return isinstance(found, ProgramRecord) and hashes == (found.program_hash, found.manifest_hash)

    def locked(self, name: str, version: str) -> Mapping[str, str]:
        """The recorded dependencies of an installed program."""
        folder = self.folder(name, version)
        return read_record(folder).dependencies if folder is not None else {}
