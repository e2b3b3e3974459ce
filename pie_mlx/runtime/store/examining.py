"""Finds every mistake in a package."""

from pathlib import Path

from pie_mlx.documents import read_limited
from pie_mlx.errors import InvalidArgumentError, LaunchError
from pie_mlx.runtime.program.component_source import check_beginning
from pie_mlx.runtime.program.javascript_source import PACKAGE
from pie_mlx.runtime.program.language import PYTHON, WEBASSEMBLY, language_of, main_among
from pie_mlx.runtime.program.manifest import Manifest, RuntimeSettings, examine_manifest
from pie_mlx.runtime.program.program import MANIFEST_FILE, check_source
from pie_mlx.runtime.program.source_reading import findings_of
from pie_mlx.runtime.program.source_text import SOURCE_LIMIT_BYTES
from pie_mlx.runtime.store.archive import UNPACKED_LIMIT_BYTES, archive_entries
from pie_mlx.runtime.store.payload import kind_of


def examine_package(path: Path) -> tuple[Manifest | None, list[str]]:
    """The manifest of a `.pie` file, None if it is invalid or missing, and every finding."""
    try:
        payload = read_limited(path, UNPACKED_LIMIT_BYTES)
        if kind_of(payload) != "package":
            return None, ["not a package: make it with 'pie build'"]
        files = {entry.path: entry.data for entry in archive_entries(payload)}
    except (LaunchError, InvalidArgumentError) as error:
        return None, [error.message]
    except OSError as error:
        return None, [f"{path}: {error.strerror}"]
    return _examine_files(files)


def _check_main(file: Path, data: bytes, entry: str) -> None:
    if language_of(file) is WEBASSEMBLY:
        check_beginning(data[:8], str(file))
    else:
        check_source(data.decode(), file, entry)


def _examine_files(files: dict[str, bytes]) -> tuple[Manifest | None, list[str]]:
    findings = [] if MANIFEST_FILE in files else [f"package: no {MANIFEST_FILE}"]
    manifest = None
    if MANIFEST_FILE in files:
        manifest, found = examine_manifest(files[MANIFEST_FILE].decode(errors="replace"))
        findings += found
    main_file = None
    try:
        main_file = main_among(files.__contains__, lambda: files[PACKAGE])
        if main_file is None:
            findings.append("package: no main.py")
        else:
            entry = manifest.runtime.entry if manifest else RuntimeSettings().entry
            _check_main(Path(main_file), files[main_file], entry)
            if manifest is not None and language_of(Path(main_file)) is PYTHON:
                findings += findings_of(manifest, Path(main_file), Path(), _sources(files))
    except LaunchError as error:
        findings.append(error.message)
    except UnicodeDecodeError as error:
        findings.append(f"{main_file}: not UTF-8 (byte {error.start})")
    return manifest, findings


def _sources(files: dict[str, bytes]) -> dict[str, str]:
    """The modules by path; "" for one that is too long."""
    return {
        path: data.decode(errors="replace") if len(data) <= SOURCE_LIMIT_BYTES else ""
        for path, data in files.items()
        if path.endswith(".py")
    }
