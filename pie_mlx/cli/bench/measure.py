"""Run the comparison of `pie bench` and print it."""

import asyncio
import dataclasses
import json
import shlex
from collections.abc import Iterable

from pie_mlx.bench.comparison import Row
from pie_mlx.bench.contest import Sizes
from pie_mlx.bench.measure import CASES, PAGES, QUICK, Plan, measure
from pie_mlx.bench.report import Report, head, line, markdown, profile_lines
from pie_mlx.cli.options import Common


@dataclasses.dataclass(frozen=True, slots=True)
class BenchRequest:
    """One use of `pie bench`; None is the default."""

    model: str | None
    dtype: str | None
    cases: tuple[str, ...]
    new_tokens: int | None
    repeats: int | None
    pages: int | None
    quick: bool
    profile: bool
    markdown: bool

    def plan(self) -> Plan:
        """What the options ask to measure."""
        sizes = QUICK if self.quick else Sizes()
        sizes = dataclasses.replace(
            sizes, new_tokens=self.new_tokens or sizes.new_tokens, repeats=self.repeats or sizes.repeats
        )
        cases = [case for case in CASES if case in self.cases] if self.cases else CASES
        return Plan(self.model, self.dtype, cases, sizes, self.profile, self.pages or PAGES)

    def command(self) -> str:
        """The command that measures the same again."""
        words = ["pie", "bench"]
        for name in ("model", "dtype", "new_tokens", "repeats", "pages"):
            value = getattr(self, name)
            words += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
        for case in self.cases:
            words += ["--case", case]
        words += [f"--{name}" for name in ("quick", "profile") if getattr(self, name)]
        return shlex.join(words)


def bench(request: BenchRequest, common: Common) -> int:
    """Measure and print. Rows appear one by one, except with --json and --markdown."""
    if common.json or request.markdown:
        report = asyncio.run(measure(request.plan(), request.command(), _ignore, _ignore))
        _print([json.dumps(report.as_json(), ensure_ascii=False)] if common.json else markdown(report))
        return 0
    report = asyncio.run(measure(request.plan(), request.command(), _print_head, _print_row))
    if report.profiles:
        _print(["", *profile_lines(report.profiles)])
    return 0


def _print(lines: Iterable[str]) -> None:
    for text in lines:
        print(text, flush=True)


def _print_head(report: Report) -> None:
    _print(head(report))


def _print_row(row: Row) -> None:
    print(line(row), flush=True)


def _ignore(found: object) -> None:
    del found
