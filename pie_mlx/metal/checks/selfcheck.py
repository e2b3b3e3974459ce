"""Checks on this machine: compiles every kernel, compares it with its reference, and measures its bandwidth."""

import logging
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from pathlib import Path

from pie_mlx.metal.checks.bandwidth import measured_bandwidth
from pie_mlx.metal.checks.check_cases import Case, check_cases
from pie_mlx.metal.faults import one_line
from pie_mlx.metal.launcher import KernelLauncher, with_record
from pie_mlx.metal.record import KernelRecord, read_record, record_key, write_record

Clock = Callable[[], float]
"""Seconds of a monotonic clock."""


@dataclass(frozen=True, slots=True)
class CaseCheck:
    """One case: its error as a share of its tolerance, both values, and the failure ("" if none)."""

    case: str
    share: float
    error: float
    tolerance: float
    failure: str


@dataclass(frozen=True, slots=True)
class KernelCheck:
    """One kernel: how many cases ran, the largest error as a share of its tolerance (passes up to 1), that error and
    that tolerance, the first failure ("" if none), the measured bytes per second (None if not measured), and every
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
    except Exception as failure:  # a compiler or driver may raise anything: do not use the kernel
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
    """Checks kernel by kernel, with all cases if `cases` is None. With a clock, also measures the bandwidth of kernels
    that pass.

    Never raises for a kernel that fails: the result says so.
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
    """The table as plain values for JSON. A kernel that did not run, or gave no number, has the error null."""
    return [
        {**_finite(asdict(check)), "each": [_finite(asdict(case)) for case in check.each], "passed": check.passed}
        for check in checks
    ]


def _finite(row: dict[str, object]) -> dict[str, object]:
    return {key: None if value == math.inf else value for key, value in row.items()}


_log = logging.getLogger(__name__)


def checked(launcher: KernelLauncher, path: Path, progress: Callable[[str], None] | None = None) -> KernelLauncher:
    """The launcher without the kernels that fail on this machine, as the record at `path` says.

    Without a record for this machine, each kernel runs its first case, about a second in all, and a record is written.
    One warning names the kernels that fail, and why.
    """
    key = record_key()
    record = read_record(path, key)
    if record is None:
        if progress is not None:
            progress("checking the GPU kernels, once on this machine")
        checks = list(check_kernels(launcher, cases=first_cases()))
        failing = failing_kernels(checks)
        record = KernelRecord(frozenset(failing), whole=False)
        if failing:
            told = "; ".join(f"{kernel}: {failure}" for kernel, failure in failing.items())
            _log.warning("metal: MLX operations are used instead of kernels that fail here: %s", told)
        with suppress(OSError):  # the next start checks again
            write_record(path, key, record, as_rows(checks))
    return with_record(launcher, record)


def first_cases() -> Iterator[Case]:
    """The plainest comparison of every kernel."""
    for _, cases in groupby(check_cases(), key=lambda case: case.kernel):
        yield next(cases)
