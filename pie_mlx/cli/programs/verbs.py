"""What `pie build`, `install`, `list`, `show` and `remove` do."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import msgspec

from pie_mlx.cli.config.active import active_config, home
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.confirm import confirm
from pie_mlx.cli.terminal.text import size, table
from pie_mlx.cli.terminal.vocabulary import iso_time
from pie_mlx.errors import LaunchError
from pie_mlx.files import SHARED, disk_hint, write_file
from pie_mlx.runtime.file_tree import remove_tree
from pie_mlx.runtime.program.parameters import Parameters
from pie_mlx.runtime.program.program import find_program
from pie_mlx.runtime.store import Installed, ProgramRecord, ProgramStore, digest, pack_program
from pie_mlx.runtime.store.packing import pack_module
from pie_mlx.runtime.store.resolution import parse_identifier
from pie_mlx.runtime.worker.workspaces import encoded


def build(common: Common, path: Path, output: Path | None) -> None:
    """Write a package."""
    manifest = find_program(path).manifest
    source = pack_program(path)
    payload = source.payload if path.is_dir() else pack_module(source.payload, source.manifest_text)
    folder = path if path.is_dir() else path.parent
    target = output or folder / "dist" / f"{manifest.name}-{manifest.version}.pie"
    _write(target, payload)
    if common.json:
        row = {"path": str(target), "program": manifest.identity, "digest": digest(payload), "size_bytes": len(payload)}
        print(json.dumps(row))
    else:
        print(target)


def install(common: Common, path: Path, manifest: Path | None, force: bool) -> None:
    """Install the program at a path, with the manifest of `--manifest` if there is one."""
    record = _store().install_path(path, manifest, force=force).record
    print(json.dumps(_row(record)) if common.json else record.identity)


def list_programs(common: Common) -> None:
    """Print the installed programs."""
    store = _store()
    records = store.listing()
    for error in store.damaged():
        print(f"pie: warning: {error.message}: {error.hint}", file=sys.stderr)
    if common.json:
        print(json.dumps([_row(record) | {"answers_requests": _answers_requests(store, record)} for record in records]))
    elif common.quiet:
        print("".join(f"{record.identity}\n" for record in records), end="")
    elif records:
        rows = [_cells(record, answers_requests=_answers_requests(store, record)) for record in records]
        print(table(("PROGRAM", "KIND", "SIZE", "OWNER", "INSTALLED"), rows))
    else:
        print("no programs are installed: 'pie install PATH' installs one", file=sys.stderr)


def show(common: Common, name: str) -> None:
    """Print the facts, parameters and manifest of a program."""
    installed = _store().find(name)
    if common.json:
        print(json.dumps(_details(installed)))
    else:
        print("\n".join(_page(installed)))


def remove(common: Common, name: str, yes: bool, scratch: bool) -> None:
    """Remove one version of a program, or all of them."""
    store = _store()
    program, is_one = parse_identifier(name).name, "@" in name.rpartition(":")[2]
    found = _chosen(store, program, name, is_one=is_one)
    folders = _scratch_folders(common, program) if scratch else []
    files = f" and {len(folders)} directories with its files" if folders else ""
    confirm(f"Remove {', '.join(found)}{files}?", refusal="nothing was removed", yes=yes)
    removed = store.remove(program, found[0].partition("@")[2] if is_one else None)
    for folder in folders:
        _remove_folder(folder)
    print(
        json.dumps({"removed": removed, "scratch": [str(folder) for folder in folders]})
        if common.json
        else _lines(removed)
    )


def _chosen(store: ProgramStore, program: str, name: str, *, is_one: bool) -> list[str]:
    """The versions to remove. Raises LaunchError for an unknown name."""
    found = [f"{program}@{version}" for version in sorted(store.versions(program))]
    if found and not is_one and ":" not in name:
        return found  # damaged ones too, which cannot be launched
    latest = store.find(name).identity
    return [latest] if is_one else found


def _scratch_folders(common: Common, program: str) -> list[Path]:
    """The scratch directories of a program, of all users."""
    root = Path(active_config(common).config.runtime.fs_scratch_dir or home() / "scratch")
    return sorted(root.glob(f"*/{encoded(program)}"))


def _store() -> ProgramStore:
    return ProgramStore(home())


def _remove_folder(folder: Path) -> None:
    remove_tree(folder)
    if folder.exists():
        raise LaunchError(f"{folder}: not all of it can be removed", hint="end the programs that use it, and try again")


def _write(target: Path, payload: bytes) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_file(target, payload, SHARED)
    except OSError as error:
        hint = disk_hint(error, "name another file with --output")
        raise LaunchError(f"{target}: {error.strerror}", hint=hint) from None


def _row(record: ProgramRecord) -> dict[str, Any]:
    fields = msgspec.to_builtins(record)
    return {"program": record.identity, **fields, "installed_at": iso_time(record.installed_at)}


def _answers_requests(store: ProgramStore, record: ProgramRecord) -> bool:
    """False for a manifest that cannot be read."""
    try:
        return store.manifest(record).answers_requests
    except LaunchError:
        return False


def _cells(record: ProgramRecord, *, answers_requests: bool) -> list[str]:
    kind = f"{record.kind}, answers requests" if answers_requests else record.kind
    return [record.identity, kind, size(record.size_bytes), record.owner, _time(record, "%Y-%m-%d %H:%M")]


def _time(record: ProgramRecord, format: str) -> str:
    return time.strftime(format, time.gmtime(record.installed_at))


def _details(installed: Installed) -> dict[str, Any]:
    return {
        **_row(installed.record),
        "description": installed.manifest.description,
        "parameters": [
            _parameter(installed.manifest.parameters, name) for name in installed.manifest.parameters.declared
        ],
        "manifest": installed.manifest_text,
        "path": str(installed.program.directory),
    }


def _parameter(parameters: Parameters, name: str) -> dict[str, Any]:
    parameter = parameters.declared[name]
    row: dict[str, Any] = {
        "name": name,
        "type": parameter.type,
        "required": parameter.required and parameters.enforced,
        "description": parameter.description,
    }
    given = {"choices": list(parameter.choices) or None, "min": parameter.low, "max": parameter.high}
    row |= {key: value for key, value in given.items() if value is not None}
    return row | ({"default": parameter.default} if parameter.has_default else {})


def _page(installed: Installed) -> list[str]:
    record = installed.record
    answers = "answers HTTP requests, on a port it is served on" if installed.manifest.answers_requests else ""
    facts = {
        "kind": f"{record.kind}, {size(record.size_bytes)}",
        "entry": answers,
        "owner": record.owner,
        "installed": _time(record, "%Y-%m-%d %H:%M UTC"),
        "digest": record.program_hash,
        "path": str(installed.program.directory),
        "needs": ", ".join(f"{name}@{version}" for name, version in record.dependencies.items()),
    }
    parameters = installed.manifest.parameters.table() or ["none are declared"]
    return [
        f"{installed.identity}  {installed.manifest.description}".rstrip(),
        *(f"  {name:<10} {fact}" for name, fact in facts.items() if fact),
        "parameters",
        *(f"  {line}" for line in parameters),
        "manifest",
        *(f"  {line}".rstrip() for line in installed.manifest_text.splitlines()),
    ]


def _lines(removed: list[str]) -> str:
    return "\n".join(f"removed {identity}" for identity in removed)
