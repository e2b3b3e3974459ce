"""`pie doctor`"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from pie_mlx.cli.options import Common, common_options
from pie_mlx.cli.terminal.errors import FAILED
from pie_mlx.runtime.doctor.diagnosis import Diagnosis, diagnose


@click.command
@click.option("--kernels", is_flag=True, help="Compare every kernel with its reference.")
@click.option("--kernel", "only", multiple=True, metavar="NAME", help="With --kernels: only this one. Repeatable.")
@click.option("--report", is_flag=True, help="Write all that a maintainer needs to one file, without your secrets.")
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="With --kernels or --report: write to this file; a report is pie-report.json otherwise.",
)
@common_options
@click.pass_obj
def command(common: Common, kernels: bool, only: tuple[str, ...], report: bool, output: Path | None) -> int:
    """Find what keeps pie-mlx from working on this machine, and what to do about it."""
    if kernels and report:
        raise click.UsageError("--report runs the kernels too: leave out --kernels")
    if kernels:
        from pie_mlx.cli.doctor.kernels import report_kernels

        return report_kernels(common, only, output)
    if only or (output and not report):
        raise click.UsageError("--kernel and --output go with --kernels")
    from pie_mlx.runtime.doctor.machine import machine_facts

    lines = diagnose(machine_facts(common.config, os.environ))
    if report:
        from pie_mlx.cli.doctor.report import write_report

        return write_report(lines, common, output)
    return report_lines(lines, common)


def report_lines(lines: Sequence[Diagnosis], common: Common) -> int:
    """Print the diagnoses and return the exit code: 1 if any is an error. `--quiet` leaves out those that are ok."""
    shown = [line for line in lines if not (common.quiet and line.status == "ok")]
    if common.json:
        print(json.dumps([{**asdict(line), "state": line.status} for line in shown], ensure_ascii=False))
    else:
        for line in shown:
            print(_text(line))
    return FAILED if any(line.status == "error" for line in lines) else 0


def _text(line: Diagnosis) -> str:
    hint = f"\n         try: {line.hint}" if line.hint else ""
    return f"{line.status:<8} {line.check}: {line.message}{hint}"
