"""Proof on the machine at hand: every kernel compiled, compared with its reference, its bandwidth measured."""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import groupby

from pie_mlx.metal.checks.bandwidth import measured_bandwidth
from pie_mlx.metal.checks.check_cases import Case, check_cases
from pie_mlx.metal.faults import one_line
from pie_mlx.metal.launcher import KernelLauncher

Clock = Callable[[], float]
"""Seconds of a monotonic clock."""


@dataclass(frozen=True, slots=True)
class CaseCheck:
    """One case: its error as a share of what it tolerates, both of these, and what failed ("" if nothing)."""

    case: str
    share: float
    error: float
    tolerance: float
    failure: str


@dataclass(frozen=True, slots=True)
class KernelCheck:
    """One kernel: cases run, largest error as a share of what its case tolerates (at most 1 passes), that error and
    that tolerance, the first failure (empty if none), the bytes per second it moved where that was measured, and every
    case."""

    kernel: str
    cases: int
    worst_share: float
    worst_error: float
    tolerance: float
    failure: str
    bytes_per_second: float | None = None
    each: tuple[CaseCheck, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.failure


def _outcome(case: Case, launcher: KernelLauncher) -> CaseCheck:
    try:
        error = case.error(launcher)
    except Exception as failure:  # a compiler or driver may raise anything: the kernel is not to be used
        return CaseCheck(case.label, math.inf, math.inf, case.tolerance, f"{case.label}: {one_line(failure)}")
    share = error / case.tolerance if case.tolerance else float(error > 0) * 2
    failure = f"{case.label}: error {error:.1e}, {case.tolerance:.0e} is tolerated" if share > 1 else ""
    return CaseCheck(case.label, share, error, case.tolerance, failure)


def _check(kernel: str, cases: Iterable[Case], launcher: KernelLauncher) -> KernelCheck:
    outcomes = tuple(_outcome(case, launcher) for case in cases)
    failure = next((outcome.failure for outcome in outcomes if outcome.failure), "")
    worst = max(outcomes, key=lambda outcome: (outcome.share, outcome.tolerance))
    return KernelCheck(kernel, len(outcomes), worst.share, worst.error, worst.tolerance, failure, each=outcomes)


def check_kernels(
    launcher: KernelLauncher, clock: Clock | None = None, cases: Iterable[Case] | None = None
) -> Iterator[KernelCheck]:
    """Check kernel by kernel, over the whole grid if `cases` is None; with a clock, also measure what passing kernels
    move per second.

    Never raises for a kernel that fails: the table says so.
    """
    for kernel, group in groupby(check_cases() if cases is None else cases, key=lambda case: case.kernel):
        check = _check(kernel, group, launcher)
        if check.passed and clock is not None:
            check = replace(check, bytes_per_second=measured_bandwidth(kernel, launcher, clock))
        yield check


def failing_kernels(checks: Iterable[KernelCheck]) -> dict[str, str]:
    """The first failure of each kernel that did not pass."""
    return {check.kernel: check.failure for check in checks if not check.passed}


def as_rows(checks: Iterable[KernelCheck]) -> list[dict[str, object]]:
    """The table as plain values, for JSON: a kernel that did not run, or gave no number, has an error of null."""
    return [
        {**_finite(asdict(check)), "each": [_finite(asdict(case)) for case in check.each], "passed": check.passed}
        for check in checks
    ]


def _finite(row: dict[str, object]) -> dict[str, object]:
    return {key: None if value == math.inf else value for key, value in row.items()}
