"""`pie doctor --kernels`"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import click
import mlx.core as mx

from pie_mlx.backends.choice import launcher_to_check
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.errors import FAILED
from pie_mlx.cli.terminal.progress import progress_line
from pie_mlx.errors import ConfigError
from pie_mlx.metal.checks.bandwidth import measured_gather_rows
from pie_mlx.metal.checks.check_cases import Case, check_cases
from pie_mlx.metal.checks.roofline import CHIPS, GIGA
from pie_mlx.metal.checks.selfcheck import KernelCheck, as_rows, check_kernels, failing_kernels
from pie_mlx.metal.launcher import KernelLauncher, with_record
from pie_mlx.metal.record import KernelRecord, record_file, record_key, write_record

WHERE = {"metal": "on the Apple GPU, built by Apple's compiler", "emulate": "on the emulator, which measures no speed"}
HEADINGS = ("kernel", "cases", "worst error", "tolerance", "GB/s", "verdict")


def report_kernels(common: Common, only: Sequence[str], output: Path | None) -> int:
    """Check all kernels or those named, print the table, record the results, and return the exit code."""
    cases = chosen_cases(only)
    launcher = launcher_to_check(os.environ)
    _say(f"checking kernels {WHERE[launcher.kind]}", quiet=common.quiet)
    with progress_line(common) as (show, _):
        checks = list(check_kernels(launcher, time.perf_counter, announced(cases, show)))
    record = _record(checks, launcher, measure=not only)
    rows = as_rows(checks)
    print(json.dumps(rows) if common.json else table(checks, str(mx.device_info().get("device_name", ""))))
    if output is not None:
        _write(output, record, rows)
    if launcher.kind == "metal":
        _remember(record, rows, whole=not only)
    return FAILED if record.failing else 0


def chosen_cases(only: Sequence[str]) -> list[Case]:
    """All cases, or those of the named kernels. Raises click.UsageError for an unknown name."""
    cases = list(check_cases())
    known = list(dict.fromkeys(case.kernel for case in cases))
    unknown = [name for name in only if name not in known]
    if unknown:
        raise click.UsageError(f"--kernel {unknown[0]}: there is no such kernel: choose among {', '.join(known)}")
    return [case for case in cases if not only or case.kernel in only]


def table(checks: Sequence[KernelCheck], device_name: str) -> str:
    """One line per kernel, with its bandwidth and the published bandwidth of the chip where both are known."""
    peak = next((chip.bytes_per_second for chip in CHIPS if f"Apple {chip.name}" == device_name), None)
    rows = [HEADINGS, *(_cells(check, peak) for check in checks)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join(lines)


def _cells(check: KernelCheck, peak: float | None) -> tuple[str, ...]:
    speed = "-" if check.bytes_per_second is None else f"{check.bytes_per_second / GIGA:.1f}"
    if check.bytes_per_second is not None and peak is not None:
        speed += f" of {peak / GIGA:.0f}"
    error, tolerance = f"{check.worst_error:.1e}", f"{check.tolerance:.0e}"
    return check.kernel, str(check.cases), error, tolerance, speed, "ok" if check.passed else "failed"


def _record(checks: Sequence[KernelCheck], launcher: KernelLauncher, *, measure: bool) -> KernelRecord:
    instead = " is off, MLX operations are used instead" if launcher.kind == "metal" else " fails"
    failing = failing_kernels(checks)
    for kernel, failure in failing.items():
        _say(f"{kernel}{instead}: {failure}")
    record = KernelRecord(frozenset(failing))
    if launcher.kind != "metal" or not measure:
        return record
    return replace(record, gather_rows=measured_gather_rows(with_record(launcher, record), time.perf_counter))


def _remember(record: KernelRecord, rows: list[dict[str, object]], *, whole: bool) -> None:
    """Write the record that the engine reads, unless only a part of the kernels was checked."""
    if not whole:
        _say("not recorded: only a part of the kernels was checked")
        return
    _write(record_file(os.environ), record, rows)


def _write(path: Path, record: KernelRecord, rows: list[dict[str, object]]) -> None:
    try:
        write_record(path, record_key(), record, rows)
    except OSError as error:
        raise ConfigError(f"doctor: {path}: {error.strerror}", hint="name a file that can be written") from None


def announced(cases: Sequence[Case], show: Callable[[str], None]) -> Iterator[Case]:
    """The cases, each shown before it runs."""
    for number, case in enumerate(cases, start=1):
        show(f"{case.kernel}: {case.label} ({number} of {len(cases)})")
        yield case


def _say(line: str, *, quiet: bool = False) -> None:
    if not quiet:
        print(f"pie: {line}", file=sys.stderr)
