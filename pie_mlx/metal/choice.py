"""Which backend an engine uses: what PIE_METAL asks for, and on an Apple GPU only kernels that proved right there."""

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any

import mlx.core as mx

from pie_mlx.errors import ConfigError
from pie_mlx.metal.backend import Backend, Kind, emulator_backend, metal_backend, off_backend, with_record
from pie_mlx.metal.check_cases import Case, check_cases
from pie_mlx.metal.device import has_apple_gpu
from pie_mlx.metal.emulator import Builder, Emulator, cache_folder
from pie_mlx.metal.record import KernelRecord, read_record, record_file, record_key, write_record
from pie_mlx.metal.selfcheck import as_rows, check_kernels, failing_kernels

_log = logging.getLogger(__name__)


def chosen_kind(environment: Mapping[str, Any], device: mx.Device) -> Kind:
    """The kind of backend that PIE_METAL asks for; `auto` (default) is the Apple GPU where `device` is one.

    Raises ConfigError for another value.
    """
    match environment.get("PIE_METAL", "auto"):
        case "off":
            return "off"
        case "emulate":
            return "emulate"
        case "auto":
            return "metal" if device.type == mx.DeviceType.gpu and has_apple_gpu() else "off"
        case wish:
            raise ConfigError(f"PIE_METAL={wish}: unknown value", hint="use auto, emulate or off")


def choose_backend(
    environment: Mapping[str, Any], device: mx.Device, progress: Callable[[str], None] | None = None
) -> Backend:
    """The backend of the chosen kind, less the kernels that fail on this machine. Raises ConfigError.

    On an Apple GPU without a record, `checked` makes one.
    """
    match chosen_kind(environment, device):
        case "off":
            return off_backend()
        case "emulate":
            return emulator_backend(Emulator(Builder(cache_folder(environment))))
        case "metal":
            return checked(metal_backend(), record_file(environment), progress)


def checked(backend: Backend, path: Path, progress: Callable[[str], None] | None = None) -> Backend:
    """The backend less the kernels that the record at `path` names.

    Without a record for this machine, each kernel runs its first case, about a second in all, and one is written. One
    warning names the kernels that fail and why.
    """
    key = record_key()
    record = read_record(path, key)
    if record is None:
        if progress is not None:
            progress("checking the GPU kernels, once on this machine")
        checks = list(check_kernels(backend, cases=first_cases()))
        failing = failing_kernels(checks)
        record = KernelRecord(frozenset(failing), whole=False)
        if failing:
            told = "; ".join(f"{kernel}: {failure}" for kernel, failure in failing.items())
            _log.warning("metal: MLX operations are used instead of kernels that fail here: %s", told)
        with suppress(OSError):  # the next start checks again
            write_record(path, key, record, as_rows(checks))
    return with_record(backend, record)


def first_cases() -> Iterator[Case]:
    """The plainest comparison of every kernel."""
    for _, cases in groupby(check_cases(), key=lambda case: case.kernel):
        yield next(cases)
