"""What is written down about all installed programs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.semver import Version
from pie_mlx.runtime.store.folders import names_in, repair
from pie_mlx.runtime.store.record import Record, read_record
from pie_mlx.runtime.store.resolution import is_version


@dataclass(frozen=True, slots=True)
class Records:
    """The records below `root`, at `<name>/<version>/`. Callers hold `folders.exclusive`."""

    root: Path

    def folder(self, name: str, version: str) -> Path | None:
        """Found in the listings, because file systems that ignore case would answer for another name too."""
        return self.root / name / version if version in self.version_names(name) else None

    def versions(self, name: str) -> list[Version]:
        return [Version.parse(text) for text in self.version_names(name)]

    def version_names(self, name: str) -> list[str]:
        if name not in names_in(self.root):
            return []
        repair(self.root / name)
        return [text for text in names_in(self.root / name) if is_version(text)]

    def read(self, name: str, version: str) -> Record | LaunchError:
        """A record, or what is wrong with it."""
        try:
            return read_record(self.root / name / version)
        except LaunchError as error:
            return error

    def readable(self) -> list[Record]:
        return [found for found in self.all() if isinstance(found, Record)]

    def all(self) -> Iterator[Record | LaunchError]:
        for name in sorted(names_in(self.root)):
            for version in sorted(self.versions(name)):
                yield self.read(name, str(version))

    def holds(self, record: Record) -> bool:
        """Whether exactly these contents are installed."""
        found = self.read(record.name, record.version)
        hashes = record.program_hash, record.manifest_hash
        return isinstance(found, Record) and hashes == (found.program_hash, found.manifest_hash)

    def locked(self, name: str, version: str) -> Mapping[str, str]:
        """The dependencies written down with an installed program."""
        folder = self.folder(name, version)
        return read_record(folder).dependencies if folder is not None else {}
