"""Makes the upload for a path: a payload and the text of a manifest."""

from dataclasses import dataclass
from pathlib import Path

from pie_mlx.documents import read_limited
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.runtime.program.language import PYTHON, WEBASSEMBLY, language_of
from pie_mlx.runtime.program.manifest import parse_manifest
from pie_mlx.runtime.program.program import (
    MANIFEST_FILE,
    default_name,
    find_program,
    main_file_of,
    manifest_in,
    read_source,
)
from pie_mlx.runtime.program.source_text import read_text
from pie_mlx.runtime.store.archive import UNPACKED_LIMIT_BYTES, archive_entries
from pie_mlx.runtime.store.packing import pack_directory, pack_module

_SUFFIX = ".pie"


@dataclass(frozen=True, slots=True)
class PackedProgram:
    """A program as it is uploaded: a package or the source of a module, and its manifest's text."""

    payload: bytes
    manifest_text: str


def pack_program(path: Path) -> PackedProgram:
    """Pack a directory or a file; read a package or Python file unchanged. Raises LaunchError."""
    if path.is_dir():
        return _directory(path)
    return _package(path) if path.suffix == _SUFFIX else _module(path)


def checked_program(path: Path, manifest_file: Path | None = None) -> PackedProgram:
    """Like `pack_program`, and checks that it can be launched; with the manifest in `manifest_file`, if given.

    Raises LaunchError that names the file at `path`; a later error would name an unpacked copy.
    """
    if path.suffix != _SUFFIX:
        find_program(path, manifest_file)
    source = pack_program(path)
    return source if manifest_file is None else PackedProgram(source.payload, read_text(manifest_file))


def _directory(directory: Path) -> PackedProgram:
    main_file, file = main_file_of(directory), directory / MANIFEST_FILE
    text = _read_exactly(file) if file.is_file() else manifest_text_of(directory, main_file, read_source(main_file))
    return PackedProgram(pack_directory(directory, text, parse_manifest(text).exclude), text)


def _package(path: Path) -> PackedProgram:
    payload = _read_bytes(path)
    manifests = [entry.data for entry in archive_entries(payload) if entry.path == MANIFEST_FILE]
    if not manifests:
        raise LaunchError(f"{path}: no {MANIFEST_FILE}", hint="make it with 'pie build'")
    try:
        return PackedProgram(payload, manifests[0].decode())
    except UnicodeDecodeError as error:
        raise LaunchError(f"{path}: {MANIFEST_FILE}: not UTF-8 (byte {error.start})", hint="build it again") from None


def _module(path: Path) -> PackedProgram:
    source, data = read_source(path), _read_bytes(path)
    text = manifest_text_of(path, path, source)
    if language_of(path) in (PYTHON, WEBASSEMBLY):
        return PackedProgram(data, text)
    # Only a package can say in which other language it is.
    return PackedProgram(pack_module(data, text, f"main{path.suffix}"), text)


def manifest_text_of(path: Path, main_file: Path, source: str) -> str:
    """The manifest inside a main file with this text, or a minimal one with the name of the program at `path`."""
    text = manifest_in(main_file, source)
    return f'[package]\nname = "{default_name(path)}"\nversion = "0.0.0"\n' if text is None else text


def _read_exactly(file: Path) -> str:
    """Read without changing line ends, which the digest includes."""
    try:
        return _read_bytes(file).decode()
    except UnicodeDecodeError as error:
        raise LaunchError(f"{file}: not UTF-8 (byte {error.start})", hint="save it as UTF-8") from None


def _read_bytes(file: Path) -> bytes:
    try:
        return read_limited(file, UNPACKED_LIMIT_BYTES)
    except InvalidArgumentError as error:
        raise LaunchError(f"{file}: {error}", hint="keep large data outside of the program") from None
    except FileNotFoundError:
        raise LaunchError(f"{file}: no such file", hint="check the path") from None
    except OSError as error:
        raise LaunchError(f"{file}: {error.strerror}", hint="check the path and its permissions") from None
