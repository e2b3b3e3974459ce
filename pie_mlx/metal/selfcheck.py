"""Proof on the machine at hand: every kernel compiled, compared with its reference, its bandwidth measured."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from itertools import groupby

from pie_mlx.errors import PieError
from pie_mlx.metal.backend import Backend
from pie_mlx.metal.bandwidth import measured_bandwidth
from pie_mlx.metal.check_cases import Case, check_cases

Clock = Callable[[], float]
"""Seconds of a monotonic clock."""

MERGED_INTO = {"attention_merge": "paged_attention"}
"""Kernels that run only behind another one share its fate."""


@dataclass(frozen=True, slots=True)
class KernelCheck:
    """One kernel: cases run, largest error as a share of what its case tolerates (at most 1 passes), the first
    failure (empty if none), and the bytes per second it moved where that was measured."""

    kernel: str
    cases: int
    worst_share: float
    failure: str
    bytes_per_second: float | None = None

    @property
    def passed(self) -> bool:
        return not self.failure


def _outcome(case: Case, backend: Backend) -> tuple[float, str]:
    """Error as a share of the tolerance, and what failed."""
    try:
        error = case.error(backend)
    except (PieError, RuntimeError, ValueError) as failure:
        return float("inf"), f"{case.label}: {failure}"
    share = error / case.tolerance if case.tolerance else float(error > 0) * 2
    return share, f"{case.label}: error {error:.1e}, {case.tolerance:.0e} is tolerated" if share > 1 else ""


def _check(kernel: str, cases: Iterable[Case], backend: Backend) -> KernelCheck:
    outcomes = [_outcome(case, backend) for case in cases]
    failure = next((text for _, text in outcomes if text), "")
    return KernelCheck(kernel, len(outcomes), max(share for share, _ in outcomes), failure)


def check_kernels(
    backend: Backend, clock: Clock | None = None, cases: Iterable[Case] | None = None
) -> Iterator[KernelCheck]:
    """Check kernel by kernel, over the whole grid if `cases` is None; with a clock, also measure what passing kernels
    move per second.

    Never raises for a kernel that fails: the table says so. Backend `off` has nothing to check.
    """
    if backend.kind == "off":
        return
    for kernel, group in groupby(check_cases() if cases is None else cases, key=lambda case: case.kernel):
        check = _check(kernel, group, backend)
        if check.passed and clock is not None:
            check = replace(check, bytes_per_second=measured_bandwidth(kernel, backend, clock))
        yield check


def without_failing(backend: Backend, checks: Iterable[KernelCheck], warn: Callable[[str], None]) -> Backend:
    """The backend with every failing kernel disabled; `warn` is told which and why. MLX operations take over."""
    failing = {check.kernel: check.failure for check in checks if not check.passed}
    for kernel, failure in failing.items():
        warn(f"metal: {kernel} is off, MLX operations are used instead: {failure}")
    behind = {kernel for kernel, front in MERGED_INTO.items() if front in failing}
    return replace(backend, disabled=backend.disabled | failing.keys() | behind)


def as_rows(checks: Iterable[KernelCheck]) -> list[dict[str, object]]:
    """The table as plain values, for JSON."""
    return [{**asdict(check), "passed": check.passed} for check in checks]
