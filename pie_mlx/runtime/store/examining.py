"""What is wrong with a package, all of it at once."""

from pathlib import Path

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.manifest import Manifest, RuntimeSettings, examine_manifest
from pie_mlx.runtime.program import MAIN_FILE, MANIFEST_FILE, check_source
from pie_mlx.runtime.source_findings import Code, code_findings
from pie_mlx.runtime.store.archive import archive_entries
from pie_mlx.runtime.store.kind import kind_of


def examine_package(path: Path) -> tuple[Manifest | None, list[str]]:
    """The manifest of a `.pie` file, None where it does not hold or is not there, and every finding."""
    try:
        payload = path.read_bytes()
        if kind_of(payload) != "package":
            return None, ["not a package: make it with 'pie build'"]
        files = {entry.path: entry.data for entry in archive_entries(payload)}
    except LaunchError as error:
        return None, [error.message]
    except OSError as error:
        return None, [f"{path}: {error.strerror}"]
    return _examine_files(files)


def _text(files: dict[str, bytes], file: Path) -> str | None:
    return files[file.as_posix()].decode(errors="replace") if file.as_posix() in files else None


def _examine_files(files: dict[str, bytes]) -> tuple[Manifest | None, list[str]]:
    findings = [f"package: no {name}" for name in (MANIFEST_FILE, MAIN_FILE) if name not in files]
    manifest = None
    if MANIFEST_FILE in files:
        manifest, found = examine_manifest(files[MANIFEST_FILE].decode(errors="replace"))
        findings += found
    try:
        entry = manifest.runtime.entry if manifest else RuntimeSettings().entry
        if MAIN_FILE in files:
            check_source(files[MAIN_FILE].decode(), Path(MAIN_FILE), entry)
            if manifest is not None:
                findings += code_findings(Code(Path(MAIN_FILE), Path(), lambda file: _text(files, file)), manifest)
    except LaunchError as error:
        findings.append(error.message)
    except UnicodeDecodeError as error:
        findings.append(f"{MAIN_FILE}: not UTF-8 (byte {error.start})")
    return manifest, findings
