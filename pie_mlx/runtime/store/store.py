"""The programs installed in `$PIE_HOME`."""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import msgspec

from pie_mlx.config.user_names import LOCAL_USER
from pie_mlx.errors import LaunchError
from pie_mlx.files import disk_hint
from pie_mlx.runtime.file_tree import remove_tree
from pie_mlx.runtime.program.language import main_in
from pie_mlx.runtime.program.manifest import Manifest, parse_manifest
from pie_mlx.runtime.program.program import MANIFEST_FILE, Program, check_source, main_file_of, read_source
from pie_mlx.runtime.program.semver import Version
from pie_mlx.runtime.store.archive import Entry
from pie_mlx.runtime.store.folders import exclusive, names_in, write_folder
from pie_mlx.runtime.store.owners import TRUST_ALL, Ownership, TrustedOwners, alike, untrusted
from pie_mlx.runtime.store.packed_program import checked_program
from pie_mlx.runtime.store.payload import digest, kind_of, manifest_digest
from pie_mlx.runtime.store.records import RECORD_FILE, ProgramRecord, Records, encode_record, read_record
from pie_mlx.runtime.store.resolution import LATEST, Versions, latest, parse_identifier, resolve
from pie_mlx.runtime.store.unpacked import UnpackedPrograms

PAYLOAD_FILE = "program"
REMEMBERED_MANIFESTS = 64
"""By their text: to parse one takes longer than the rest of a launch's look-up."""


@dataclass(frozen=True, slots=True)
class Installed:
    """One installed version: its record, and the program to launch."""

    record: ProgramRecord
    manifest_text: str
    program: Program

    @property
    def identity(self) -> str:
        return self.record.identity

    @property
    def manifest(self) -> Manifest:
        return self.program.manifest


class ProgramStore:
    """Programs by name and version under `home`: `programs/<name>/<version>/`, unpacked under `cache/programs/`.

    Everything is written under a temporary name and renamed, by one writer at a time over all processes; a version
    exists completely or not at all, even after a crash. No program is executed. Methods block on files and can be
    called from any thread. `clock` returns Unix time.

    A name belongs to the user who installed its first version. `owners` decides whose programs a name may mean; methods
    that look names up get the users they do it for.
    """

    def __init__(
        self, home: Path, *, owners: TrustedOwners = TRUST_ALL, clock: Callable[[], float] = time.time
    ) -> None:
        self._root = home / "programs"
        self._records = Records(self._root)
        self._ownership = Ownership(self._records, owners)
        self._unpacked = UnpackedPrograms(home / "cache" / "programs", clock)
        self._clock = clock
        self._parsed = lru_cache(REMEMBERED_MANIFESTS)(parse_manifest)

    def install(
        self,
        payload: bytes,
        manifest_text: str,
        *,
        owner: str = LOCAL_USER,
        admin: bool = False,
        force: bool = False,
    ) -> Installed:
        """Install a package or the source of a module under the name and version of its manifest.

        Installing the same contents again has no effect; other contents are refused unless forced. What an
        administrator installs under a user's name belongs to that user. Raises LaunchError for an invalid program or
        manifest, or a missing dependency, and ProgramOwnerError for another user's name.
        """
        manifest = parse_manifest(manifest_text)
        record = ProgramRecord(
            name=manifest.name,
            version=str(manifest.version),
            kind=kind_of(payload),
            owner=owner,
            program_hash=digest(payload),
            manifest_hash=manifest_digest(manifest_text),
            size_bytes=len(payload),
            installed_at=self._clock(),
            dependencies={},
        )
        with _disk():
            directory = self._unpacked.put(record.program_hash, record.kind, payload)
            self._check_contents(directory, manifest, manifest_text)
        with self._exclusive():
            self._check_name(manifest)
            owner = self._ownership.owner_to_be(record, admin=admin)
            if not self._is_same(record, force=force):
                chosen = resolve(manifest, self._versions_for(owner), self._records.locked)
                record = msgspec.structs.replace(record, owner=owner, dependencies=chosen)
                self._write(record, payload, manifest_text)
                self._sweep()
            return self._find(record.name, record.version)

    def unpack(self, payload: bytes, manifest_text: str, *users: str) -> Program:
        """Unpack a program for launching without installing it; the copy is kept for a day.

        Raises LaunchError for an invalid program or manifest, or a missing dependency.
        """
        manifest = parse_manifest(manifest_text)
        with _disk():
            directory = self._unpacked.put(digest(payload), kind_of(payload), payload)
            self._check_contents(directory, manifest, manifest_text)
        with self._without_writers():
            self._sweep()
        return self.resolved(Program(manifest, main_file_of(directory), directory), *users)

    def install_path(
        self, path: Path, manifest_file: Path | None = None, *, owner: str = LOCAL_USER, force: bool = False
    ) -> Installed:
        """Install a directory, a file or a `.pie` package, with the manifest in `manifest_file`, if given.

        Raises LaunchError as `install`.
        """
        source = checked_program(path, manifest_file)
        return self.install(source.payload, source.manifest_text, owner=owner, force=force)

    def check(
        self, name: str, version: str, *users: str, program_hash: str | None = None, manifest_hash: str | None = None
    ) -> bool:
        """Whether the users can launch that version, with these hashes if given.

        Raises LaunchError for an invalid name or version.
        """
        parse_identifier(f"{name}@{version}")
        with self._without_writers():
            folder = self._records.folder(name, version)
            if folder is None:
                return False
            record = read_record(folder)
        if not self.trusts(record.owner, *users):
            return False
        return program_hash in (None, record.program_hash) and manifest_hash in (None, record.manifest_hash)

    def find(self, identifier: str, *users: str) -> Installed:
        """The installed program that an identifier means for the users, ready to launch.

        Raises LaunchError, and ProgramOwnerError for a program of an untrusted owner.
        """
        wanted = parse_identifier(identifier)
        with self._without_writers():
            found = self._ownership.meant(wanted.name, users, wanted.owner)
            chosen = wanted.version or latest(found)
            if chosen not in found:
                raise not_installed(wanted.name, str(chosen or LATEST))
            return self._find(wanted.name, str(chosen))

    def trusts(self, owner: str, *users: str) -> bool:
        """Whether a name looked up for the users may mean a program of `owner`."""
        return self._ownership.rule.trust(owner, users)

    def versions(self, name: str) -> list[Version]:
        """The installed versions of a program, unordered."""
        with self._without_writers():
            return self._records.versions(name)

    def listing(self) -> list[ProgramRecord]:
        """All installed versions, by name and version, without damaged ones (see `damaged`)."""
        with self._without_writers():
            return self._records.readable()

    def manifest(self, record: ProgramRecord) -> Manifest:
        """The manifest of a listed version. Raises LaunchError if it is gone or damaged."""
        try:
            text = (self._root / record.name / record.version / MANIFEST_FILE).read_bytes().decode()
        except (OSError, UnicodeDecodeError) as error:
            raise LaunchError(f"program '{record.identity}': {error}", hint="install it again") from None
        return parse_manifest(text)

    def damaged(self) -> list[LaunchError]:
        """The errors of versions that cannot be read."""
        with self._without_writers():
            return [found for found in self._records.all() if isinstance(found, LaunchError)]

    def contested(self) -> list[str]:
        """Versions whose owner is not the owner of their name; stores of the first release may hold some."""
        with self._without_writers():
            return self._ownership.contested()

    def remove(
        self, name: str, version: str | None = None, *, owner: str = LOCAL_USER, admin: bool = False
    ) -> list[str]:
        """Remove one version, or all; returns the removed versions. Running processes are not affected.

        Raises LaunchError if it is not installed, or another program depends on it, and AuthError if it does not belong
        to `owner`.
        """
        parse_identifier(f"{name}@{version or 'latest'}")
        with self._exclusive():
            found = [text for text in map(str, sorted(self._records.versions(name))) if version in (None, text)]
            if not found:
                raise not_installed(name, version or "latest")
            for text in found:
                self._ownership.check_rights(name, text, owner, admin=admin)
            identities = [f"{name}@{text}" for text in found]
            self._refuse_needed(identities)
            for place in found:
                self._drop(self._root / name / place)
            return identities

    def resolved(self, program: Program, *users: str) -> Program:
        """An uninstalled program with its dependencies resolved to installed versions. Raises LaunchError."""
        with self._without_writers():
            chosen = resolve(program.manifest, self._versions_for(*users), self._records.locked)
            return replace(program, dependencies=self._dependencies(program.identity, chosen, *users))

    def unresolved(self, manifest: Manifest) -> list[LaunchError]:
        """The errors in resolving each dependency of an uninstalled program."""
        found: list[LaunchError] = []
        with self._without_writers():
            for name, requirement in manifest.dependencies.items():
                try:
                    resolve(
                        replace(manifest, dependencies={name: requirement}), self._versions_for(), self._records.locked
                    )
                except LaunchError as error:
                    found.append(error)
        return found

    def _versions_for(self, *users: str) -> Versions:
        return lambda name: self._ownership.meant(name, users)

    def _find(self, name: str, version: str, chain: str = "") -> Installed:
        folder = self._records.folder(name, version)
        if folder is None:
            raise not_installed(name, version, chain)
        record = read_record(folder)
        manifest_text = (folder / MANIFEST_FILE).read_bytes().decode()
        manifest = self._parsed(manifest_text)
        directory = self._unpacked.get(record.program_hash, record.kind, folder / PAYLOAD_FILE)
        dependencies = self._dependencies(f"{chain}{record.identity}", record.dependencies, record.owner)
        program = Program(manifest, main_file_of(directory), directory, dependencies, record.owner)
        return Installed(record, manifest_text, program)

    def _dependencies(self, chain: str, chosen: dict[str, str], *users: str) -> dict[str, Program]:
        """The chosen programs. The users, who require them, must trust their owners; the launcher need not."""
        found = {name: self._find(name, version, f"{chain} -> ").program for name, version in chosen.items()}
        for name, program in found.items():
            if not self.trusts(program.owner, *users):
                raise untrusted(name, program.owner)
        return found

    def _check_contents(self, directory: Path, manifest: Manifest, manifest_text: str) -> None:
        main = main_in(directory)
        if main is None:
            raise LaunchError(
                "package: no main.py", hint="put the program's entry into main.py, main.ts, main.js or main.wasm"
            )
        packed = directory / MANIFEST_FILE
        if packed.is_file() and _lines(packed.read_bytes()) != _lines(manifest_text.encode()):
            raise LaunchError(
                "manifest differs from the package's Pie.toml", hint="upload both from the same directory"
            )
        name = Path(main.name)
        try:
            source = read_source(main)
        except LaunchError as error:
            raise LaunchError(error.message.replace(str(main), str(name)), hint=error.hint) from None
        check_source(source, name, manifest.runtime.entry)

    def _check_name(self, manifest: Manifest) -> None:
        for name in names_in(self._root):
            if name != manifest.name and alike(name) == alike(manifest.name):
                raise LaunchError(
                    f"program '{manifest.name}': '{name}' is installed, and names that differ only in case or"
                    " in '-' and '_' are the same",
                    hint=f"choose another name, or 'pie remove {name}'",
                )
        version = str(manifest.version)
        for other in self._records.version_names(manifest.name):
            if other != version and other.casefold() == version.casefold():
                raise LaunchError(
                    f"program '{manifest.identity}': '{other}' is installed, and versions that differ only in case"
                    " are the same",
                    hint="raise the version",
                )

    def _is_same(self, record: ProgramRecord, *, force: bool) -> bool:
        """Whether these contents are installed. Raises LaunchError if others are, unless forced."""
        if self._records.folder(record.name, record.version) is None:
            return False
        if self._records.holds(record):
            return True
        if not force and isinstance(self._records.read(record.name, record.version), ProgramRecord):
            raise LaunchError(
                f"Program '{record.identity}' is already installed with different contents: raise the version or"
                " force the overwrite",
                hint="pie install --force",
            )
        return False

    def _sweep(self) -> None:
        self._unpacked.sweep(lambda: {record.program_hash for record in self._records.readable()})

    def _write(self, record: ProgramRecord, payload: bytes, manifest_text: str) -> None:
        entries = [
            Entry(PAYLOAD_FILE, payload),
            Entry(MANIFEST_FILE, manifest_text.encode()),
            Entry(RECORD_FILE, encode_record(record)),
        ]
        write_folder(self._root / record.name / record.version, entries)

    def _drop(self, folder: Path) -> None:
        """Rename before removing, so that a version never exists partially."""
        aside = folder.with_name(f".{folder.name}.gone.new")
        folder.rename(aside)
        remove_tree(aside)
        if not names_in(folder.parent):
            remove_tree(folder.parent)

    def _refuse_needed(self, identities: list[str]) -> None:
        for record in self._records.readable():
            locked = [f"{name}@{version}" for name, version in record.dependencies.items()]
            needed = [identity for identity in locked if identity in identities]
            if needed and record.identity not in identities:
                raise LaunchError(
                    f"program '{needed[0]}': {record.identity} depends on it", hint=f"remove {record.identity} first"
                )

    @contextmanager
    def _without_writers(self) -> Generator[None]:
        """Exclude writers. Creates nothing if nothing was ever installed."""
        if not self._root.is_dir():
            yield
            return
        with self._exclusive():
            yield

    @contextmanager
    def _exclusive(self) -> Generator[None]:
        with _disk(), exclusive(self._root):
            yield


@contextmanager
def _disk() -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise LaunchError(
            f"programs: {error.strerror}: {error.filename}",
            hint=disk_hint(error, "check the disk and the permissions of PIE_HOME"),
        ) from None


def not_installed(name: str, version: str, chain: str = "") -> LaunchError:
    """The error for a program that is not installed; `chain` is what requires it."""
    needed = f" (needed by {chain.removesuffix(' -> ')})" if chain else ""
    return LaunchError(
        f"program '{name}@{version}' is not installed: upload it with install_program or 'pie install'{needed}",
        hint="'pie list' shows what is installed",
    )


def _lines(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n")
