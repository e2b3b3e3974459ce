"""`pie check`"""

import json
from dataclasses import dataclass
from pathlib import Path

import click

from pie_mlx.cli.options import Common, common_options
from pie_mlx.cli.reporting import FAILED
from pie_mlx.config import load_config
from pie_mlx.errors import PieError
from pie_mlx.runtime.entry import check_offers
from pie_mlx.runtime.program import MANIFEST_FILE, examine_program


@dataclass(frozen=True, slots=True)
class Checked:
    """What was looked at, and what is wrong with it."""

    subject: str
    findings: list[str]
    summary: str = ""


@click.command
@click.argument("path", required=False, type=click.Path(path_type=Path))
@common_options
@click.pass_obj
def command(common: Common, path: Path | None) -> int:
    """Check a program (a .py file, a directory or its Pie.toml), or a config.toml; without PATH the active one."""
    checked = check(path, common)
    if common.json:
        print(json.dumps([{"subject": checked.subject, "finding": finding} for finding in checked.findings]))
    else:
        lines = [f"error: {finding}" for finding in checked.findings] or [f"ok: {checked.summary}"]
        print(f"{checked.subject}\n" + "\n".join(f"  {line}" for line in lines))
    return FAILED if checked.findings else 0


def check(path: Path | None, common: Common) -> Checked:
    """Look at a program or a configuration; nothing is executed."""
    if path is None:
        return check_config(common.config)
    if path.name == MANIFEST_FILE:
        return check_program(path.parent)
    return check_config(path) if path.suffix == ".toml" else check_program(path)


def check_config(path: Path | None) -> Checked:
    try:
        loaded = load_config(path)
    except PieError as error:
        return Checked(str(path or "config"), error.message.removeprefix("config: ").split("\n     "))
    origins = {setting.origin for setting in loaded.settings.values()}
    return Checked(str(path or "config"), [], f"{len(loaded.config.model)} model(s), from {', '.join(sorted(origins))}")


def check_program(path: Path) -> Checked:
    manifest, findings = examine_program(path)
    if manifest is None:
        return Checked(str(path), findings)
    try:
        check_offers(manifest)
    except PieError as error:
        findings = [*findings, error.message]
    return Checked(manifest.identity, findings, ", ".join(manifest.parameters.declared) or "no parameters")
