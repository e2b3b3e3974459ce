"""The report of a measurement, as text, as JSON and as Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pie_mlx.bench.comparison import Row
from pie_mlx.bench.phases import PHASES, Profile


@dataclass(frozen=True, slots=True)
class Report:
    """Figures, with the facts needed to judge and repeat them."""

    date: str
    machine: str
    versions: Mapping[str, str]
    model: str
    dtype: str
    blas: str
    command: str
    rows: list[Row] = field(default_factory=list[Row])
    profiles: list[Profile] = field(default_factory=list[Profile])

    def as_json(self) -> dict[str, Any]:
        """Plain values; every row has its ratio."""
        rows = [{**asdict(row), "ratio": row.ratio} for row in self.rows]
        return {**asdict(self), "rows": rows}


def head(report: Report) -> Iterator[str]:
    """The facts of the comparison, and the headings of the rows."""
    yield f"{report.model} in {report.dtype}; matrix products on both sides by {report.blas}"
    yield f"{report.machine}; {report.date}"
    yield ", ".join(f"{name} {version}" for name, version in report.versions.items())
    yield ""
    yield f"{'':44} {'other':>12} {'pie-mlx':>12} {'':9} {'ratio':>8}  other is"


def line(row: Row) -> str:
    """One row below those headings."""
    return f"{row.text()}  {row.against}"


def profile_lines(profiles: Sequence[Profile]) -> Iterator[str]:
    """Milliseconds per step and their share, a line for each number of streams."""
    yield f"{'ms per step':>11} {'all':>9}" + "".join(f"{phase:>22}" for phase in PHASES)
    for found in profiles:
        total = sum(found.milliseconds.values())
        cells = (f"{value:13.3f} ({value / total:5.1%})" for value in found.milliseconds.values())
        yield f"{found.streams:3} streams {total:9.3f}" + "".join(f"{cell:>22}" for cell in cells)


def markdown(report: Report) -> Iterator[str]:
    """The report as a Markdown table."""
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    yield f"`{report.command}` on {report.date}: {report.model} in {report.dtype}, {report.blas} on both sides."
    yield f"{report.machine}. {versions}.\n"
    yield "| | other | pie-mlx | | ratio | other is |\n|---|---:|---:|---|---:|---|"
    for row in report.rows:
        figures = f"{row.peer:,.3f} | {row.ours:,.3f} | {row.unit} | {row.ratio:.2f}x"
        yield f"| {row.name.strip()} | {figures} | {row.against} |"
