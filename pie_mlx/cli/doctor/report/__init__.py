"""`pie doctor --report`: one file with the facts of a machine that a maintainer needs, and nothing about its owner."""

import getpass
import json
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pie_mlx.cli.doctor.report.crashes import crashes
from pie_mlx.cli.doctor.report.machine import device, kernel_cases, kernel_record, machine, versions
from pie_mlx.cli.doctor.report.processes import last_processes
from pie_mlx.cli.doctor.report.redaction import Redaction
from pie_mlx.cli.doctor.report.settings import configuration, secrets, variables
from pie_mlx.cli.options import Common
from pie_mlx.config import pie_home
from pie_mlx.errors import ConfigError
from pie_mlx.files import disk_hint, write_file
from pie_mlx.runtime.doctor.diagnosis import Diagnosis, FactFailure
from pie_mlx.runtime.doctor.machine import attempt

__all__ = ["write_report"]

FILE = Path("pie-report.json")


def write_report(lines: Sequence[Diagnosis], common: Common, output: Path | None) -> int:
    """Write the report, print its path, and return the exit code. Raises ConfigError."""
    file = output or FILE
    content = json.dumps(_report(lines, common, os.environ), indent=2, ensure_ascii=False)
    try:
        write_file(file, f"{content}\n".encode(errors="replace"))
    except OSError as error:
        hint = disk_hint(error, "name a file that can be written with --output")
        raise ConfigError(f"doctor: {file}: {error.strerror}", hint=hint) from None
    if common.json:
        print(json.dumps({"file": str(file)}))
    else:
        print(file if common.quiet else f"{file}: read it through, then attach it to an issue")
    return 0


def _report(lines: Sequence[Diagnosis], common: Common, environment: Mapping[str, str]) -> Any:
    """Plain data. A part that fails holds its error instead."""
    file, user_home = common.config, Path.home()
    user = attempt(getpass.getuser)  # an account may have no name
    name = "" if isinstance(user, FactFailure) else user
    redaction = Redaction(user_home, name, socket.gethostname(), secrets(file, environment))
    looks = {
        "versions": versions,
        "machine": machine,
        "device": device,
        "kernel_record": lambda: kernel_record(environment),
        "kernel_cases": lambda: kernel_cases(common),
        "environment": lambda: variables(environment),
        "configuration": lambda: configuration(file, environment),
        "processes": lambda: last_processes(pie_home(environment) / "logs"),
        "crashes": lambda: crashes(user_home / "Library" / "Logs" / "DiagnosticReports"),
    }
    found = {name: attempt(look) for name, look in looks.items()}
    parts = {name: {"failed": part.message} if isinstance(part, FactFailure) else part for name, part in found.items()}
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    return redaction.redact({"made_at": made_at, "checks": [asdict(line) for line in lines], **parts})
