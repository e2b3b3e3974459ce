"""Examine a program or a configuration."""

import json
import stat
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from pie_mlx.cli.config.active import home
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.errors import FAILED
from pie_mlx.config import LoadedConfig, load_config
from pie_mlx.config.schema import is_secret
from pie_mlx.errors import LaunchError, PieError
from pie_mlx.plural import plural
from pie_mlx.runtime.configured import COMPILED
from pie_mlx.runtime.execution.entry import missing_offers
from pie_mlx.runtime.javascript.check import javascript_findings
from pie_mlx.runtime.program.language import JAVASCRIPT, WEBASSEMBLY, language_of
from pie_mlx.runtime.program.manifest import Manifest
from pie_mlx.runtime.program.program import MANIFEST_FILE, Program, examine_program, find_program
from pie_mlx.runtime.program.source_reading import findings_of
from pie_mlx.runtime.store import ProgramStore, pack_program
from pie_mlx.runtime.store.examining import examine_package
from pie_mlx.runtime.worker.compiled.cache import CompiledComponents
from pie_mlx.runtime.worker.compiled.check import component_findings


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong. A warning does not make the check fail."""

    level: Literal["error", "warning"]
    finding: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The subject of a check, and the findings."""

    subject: str
    findings: list[Finding]
    summary: str = ""

    @property
    def failed(self) -> bool:
        return any(finding.level == "error" for finding in self.findings)


def run_check(common: Common, path: Path | None, manifest_file: Path | None = None) -> int:
    """Print the findings and return the exit code."""
    checked = check(path, common, manifest_file)
    if common.json:
        print(json.dumps([{"subject": checked.subject, **asdict(finding)} for finding in checked.findings]))
    else:
        lines = [f"{finding.level}: {finding.finding}" for finding in checked.findings]
        lines += [] if checked.failed else [f"ok: {checked.summary}"]
        print(f"{checked.subject}\n" + "\n".join(f"  {line}" for line in lines))
    return FAILED if checked.failed else 0


def check(path: Path | None, common: Common, manifest_file: Path | None = None) -> Checked:
    """Check a program, with the manifest in `manifest_file` if given, or a configuration; None is the active one."""
    if path is None:
        return check_config(common.config)
    if path.name == MANIFEST_FILE:
        return check_program(path.parent)
    return check_config(path) if path.suffix == ".toml" else check_program(path, manifest_file)


def check_config(path: Path | None) -> Checked:
    try:
        loaded = load_config(path)
    except PieError as error:
        lines = error.message.removeprefix("config: ").split("\n     ")
        return Checked(str(path or "config"), [Finding("error", line) for line in lines])
    warnings = [Finding("warning", line) for line in (*loaded.warnings, *_exposed_secrets(loaded))]
    errors = [Finding("error", line) for line in _key_errors(loaded)]
    origins = ", ".join(sorted({setting.origin for setting in loaded.settings.values()}))
    summary = f"{plural(len(loaded.config.model), 'model')}, from {origins}"
    return Checked(str(path or "config"), [*errors, *warnings], summary)


def check_program(path: Path, manifest_file: Path | None = None) -> Checked:
    manifest, errors = examine_package(path) if path.suffix == ".pie" else examine_program(path, manifest_file)
    if manifest is None:
        return Checked(str(path), [Finding("error", line) for line in errors])
    warnings: list[str] = []
    if not errors and path.suffix != ".pie":
        program = find_program(path, manifest_file)
        if language_of(program.main_file) is WEBASSEMBLY:
            errors, warnings = component_findings(program.main_file, CompiledComponents(home() / COMPILED))
        else:
            errors += _source_findings(program)
    errors += [error.message for error in missing_offers(manifest)]
    errors += _dependency_errors(manifest)
    errors += [] if errors or path.suffix == ".pie" else _packing_errors(path)
    summary = ", ".join(manifest.parameters.declared) or "no parameters"
    findings = [Finding("error", line) for line in errors]
    return Checked(manifest.identity, [*findings, *(Finding("warning", line) for line in warnings)], summary)


def _source_findings(program: Program) -> list[str]:
    try:
        if language_of(program.main_file) is JAVASCRIPT:
            return javascript_findings(program.main_file, program.directory, program.manifest.runtime.entry)
        return findings_of(program.manifest, program.main_file, program.directory)
    except LaunchError as error:
        return [error.message]


def _dependency_errors(manifest: Manifest) -> list[str]:
    if not manifest.dependencies:
        return []
    return [f"{error.message}: {error.hint}" for error in ProgramStore(home()).unresolved(manifest)]


def _packing_errors(path: Path) -> list[str]:
    try:
        pack_program(path)
    except LaunchError as error:
        return [error.message]
    return []


def _key_errors(loaded: LoadedConfig) -> list[str]:
    """Authentication is on, but no key can log in."""
    if not loaded.config.auth.enabled:
        return []
    from pie_mlx.config.authorized_users import AuthorizedUsers, authorized_users_file

    file = authorized_users_file(loaded.config, home())
    try:
        users = AuthorizedUsers(file).users()
    except PieError as error:
        return [f"{error.message}: {error.hint}"]
    return [] if any(users.values()) else [f"auth.enabled, but {file} holds no key: add one with 'pie auth add'"]


def _exposed_secrets(loaded: LoadedConfig) -> list[str]:
    """Files with the environment or the headers of an MCP server that other accounts can read."""
    files = {Path(setting.origin) for path, setting in loaded.settings.items() if is_secret(path) and setting.value}
    return [
        f"{file} may hold secrets of MCP servers, and other accounts can read it: chmod 600 {file}"
        for file in sorted(files)
        if file.is_file() and stat.S_IMODE(file.stat().st_mode) & 0o077
    ]
