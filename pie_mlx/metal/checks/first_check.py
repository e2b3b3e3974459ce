"""On an Apple GPU only kernels count that proved right there: the first check on a machine, and its record."""

import logging
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from pie_mlx.metal.checks.check_cases import Case, check_cases
from pie_mlx.metal.checks.selfcheck import as_rows, check_kernels, failing_kernels
from pie_mlx.metal.launcher import KernelLauncher, with_record
from pie_mlx.metal.record import KernelRecord, read_record, record_key, write_record

_log = logging.getLogger(__name__)


def checked(launcher: KernelLauncher, path: Path, progress: Callable[[str], None] | None = None) -> KernelLauncher:
    """The launcher less the kernels that the record at `path` names.

    Without a record for this machine, each kernel runs its first case, about a second in all, and one is written. One
    warning names the kernels that fail and why.
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
