"""A program on disk: a file in one of the languages, or a directory with Pie.toml and a main file."""

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.program.entry_kind import EntryKind, facts_of
from pie_mlx.runtime.program.javascript_source import exports_handler
from pie_mlx.runtime.program.language import JAVASCRIPT, SUFFIXES, WEBASSEMBLY, language_of, main_in
from pie_mlx.runtime.program.manifest import (
    NAME_LIMIT,
    Manifest,
    RuntimeSettings,
    examine_manifest,
    inline_manifest,
    parse_manifest,
)
from pie_mlx.runtime.program.semver import Version
from pie_mlx.runtime.program.source_reading import AT_ONCE_BYTES, source_facts
from pie_mlx.runtime.program.source_text import parse_source, read_text

MANIFEST_FILE = "Pie.toml"
_SHOWN_PROGRAMS = 6


@dataclass(frozen=True, slots=True)
class Program:
    """What is launched. `main_file` holds the entry, `directory` its other modules; None for a single file.

    `dependencies` are the programs its manifest requires, by name. `owner` is the installing user, "" if it is not
    installed.
    """

    manifest: Manifest
    main_file: Path
    directory: Path | None
    dependencies: Mapping[str, "Program"] = field(default_factory=dict[str, "Program"])
    owner: str = ""

    @property
    def identity(self) -> str:
        return self.manifest.identity

    def name_for(self, username: str) -> str:
        """The name that tells programs of several owners apart: `owner:name`, or `name` for the user's own."""
        name = self.manifest.name
        return name if self.owner in ("", username) else f"{self.owner}:{name}"


def looks_like_path(word: str) -> bool:
    """Whether a command-line word is a path, not the name of an installed program."""
    return "/" in word or word.endswith((*SUFFIXES, ".pie")) or _is_program_directory(Path(word))


def find_program(path: Path, manifest_file: Path | None = None) -> Program:
    """The program at `path`, with its own manifest or the one in `manifest_file`.

    Nothing is executed. Raises LaunchError if it is missing, unreadable, or its manifest is invalid.
    """
    main_file, directory = _locate(path)
    source = read_source(main_file)
    text = read_text(manifest_file) if manifest_file else _own_manifest(directory, main_file, source)
    manifest = parse_manifest(text) if text is not None else _default_manifest(path)
    check_source(source, main_file, manifest.runtime.entry)
    return Program(manifest, main_file, directory)


def examine_program(path: Path, manifest_file: Path | None = None) -> tuple[Manifest | None, list[str]]:
    """The manifest, that in `manifest_file` if given, and every mistake in the program; the manifest is None if it is
    invalid or missing."""
    try:
        main_file, directory = _locate(path)
        source = read_source(main_file)
        text = read_text(manifest_file) if manifest_file else _own_manifest(directory, main_file, source)
    except LaunchError as error:
        return None, [error.message]
    manifest, findings = examine_manifest(text) if text is not None else (_default_manifest(path), [])
    try:
        check_source(source, main_file, manifest.runtime.entry if manifest else RuntimeSettings().entry)
    except LaunchError as error:
        findings = [*findings, error.message]
    return manifest, findings


def check_source(source: str, file: Path, entry: str) -> None:
    """Raises LaunchError if the main file's text cannot be a program in its language, or has nothing to run."""
    language_of(file).check(source, file, entry)


def program_entry_kind(program: Program) -> EntryKind:
    """The entry kind of a program. Raises LaunchError if its main file cannot be read."""
    tree = parse_source(read_text(program.main_file), program.main_file)
    return tree_entry_kind(tree, program.manifest.runtime.entry)


def tree_entry_kind(tree: ast.Module, entry: str) -> EntryKind:
    """The entry kind of a program with this main file."""
    return facts_of(tree, entry).entry_kind or "async"


def handles_requests(program: Program) -> bool:
    """Whether it defines the HTTP request handler. Raises LaunchError if its main file cannot be read."""
    file = program.main_file
    language = language_of(file)
    if language is JAVASCRIPT:
        return exports_handler(read_text(file))
    if language is WEBASSEMBLY:
        return True  # it is known once the component is compiled, at the first request
    return source_facts(read_text(file), file, program.manifest.runtime.entry).handles


def read_source(file: Path) -> str:
    """The text of a program's main file. Raises LaunchError if the file is missing or not a program."""
    return language_of(file).read(file)


def _locate(path: Path) -> tuple[Path, Path | None]:
    if path.suffix == ".pie":
        raise LaunchError(f"{path}: a package is installed before it is run", hint="'pie run' and 'pie install' do it")
    if not path.is_dir():
        return path, None
    return main_file_of(path), path


def main_file_of(directory: Path) -> Path:
    """Raises LaunchError if there is none; the hint lists what can be run in the directory instead."""
    file = main_in(directory)
    if file is None:
        raise LaunchError(
            f"{directory}: no main.py, nor main.ts, main.js, index.js or main.wasm", hint=_instead_of(directory)
        )
    return file


def _instead_of(directory: Path) -> str:
    """A hint for a directory that is not a program."""
    try:
        inside = sorted(path for path in directory.iterdir() if _can_be_run(path))
    except OSError:
        inside = []
    if not inside:
        return f"put the program's entry into {directory / 'main.py'}"
    more = f" and {len(inside) - _SHOWN_PROGRAMS} more" if len(inside) > _SHOWN_PROGRAMS else ""
    return f"it contains programs: {', '.join(map(str, inside[:_SHOWN_PROGRAMS]))}{more}"


def _can_be_run(path: Path) -> bool:
    try:
        if path.suffix not in SUFFIXES:
            return path.suffix == ".pie" or (path.is_dir() and main_in(path) is not None)
        # Too large to read in this process, and a hint is not worth starting another.
        if path.stat().st_size > AT_ONCE_BYTES:
            return False
        check_source(read_source(path), path, RuntimeSettings().entry)
    except (LaunchError, OSError):
        return False
    return True


def _own_manifest(directory: Path | None, main_file: Path, source: str) -> str | None:
    if directory is not None and (directory / MANIFEST_FILE).is_file():
        return read_text(directory / MANIFEST_FILE)
    return manifest_in(main_file, source)


def manifest_in(main_file: Path, source: str) -> str | None:
    """The manifest in a main file with this text, None without one. Raises LaunchError for a broken one."""
    comment = language_of(main_file).comment
    return inline_manifest(source, comment) if comment else None


def _default_manifest(path: Path) -> Manifest:
    return Manifest(default_name(path), Version((0, 0, 0)))


def default_name(path: Path) -> str:
    """The name of a program without a manifest."""
    stem = path.resolve().stem if path.suffix in SUFFIXES else path.resolve().name
    return re.sub(r"[^a-zA-Z0-9_-]+", "-", stem).strip("-_")[:NAME_LIMIT] or "program"


def _is_program_directory(path: Path) -> bool:
    return path.is_dir() and ((path / MANIFEST_FILE).is_file() or main_in(path) is not None)
