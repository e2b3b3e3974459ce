"""The machine, its software, its GPU, and the results of the kernels on it."""

import os
import platform
import sys
import time
from collections.abc import Mapping
from importlib import metadata
from typing import Any

import pie_mlx
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.progress import progress_line
from pie_mlx.documents import json_value
from pie_mlx.supported import this_machine
from pie_mlx.system import memory_bytes, sysctl_number, sysctl_text

LIBRARIES = (
    *("mlx", "mlx-metal", "mlx-lm", "transformers", "tokenizers", "llguidance", "numpy", "mcp", "msgspec", "pydantic"),
    *("huggingface_hub", "starlette", "uvicorn", "websockets", "textual", "pip"),
)
TEXTS = ("machdep.cpu.brand_string", "hw.model", "kern.osversion")
NUMBERS = (
    *("hw.perflevel0.physicalcpu", "hw.perflevel1.physicalcpu", "iogpu.wired_limit_mb", "iogpu.rsrc_limit"),
    *("kern.memorystatus_vm_pressure_level", "kern.hv_vmm_present"),
)
"""Settings of macOS. The last ones say whether memory is short, and whether this is a virtual machine."""


def versions() -> dict[str, str]:
    """Versions by name: pie-mlx, Python and the installed libraries."""
    installed = {one.name: one.version for one in metadata.distributions()}
    libraries = {name: installed[name] for name in LIBRARIES if name in installed}
    return {"pie-mlx": pie_mlx.__version__, "python": sys.version, **libraries}


def machine() -> dict[str, Any]:
    """Chip, memory and system, as far as they are known."""
    return {
        **this_machine()._asdict(),
        "kernel": platform.release(),
        "processors": os.cpu_count(),
        "memory_bytes": memory_bytes(),
        **{name: text for name in TEXTS if (text := sysctl_text(name))},
        **{name: number for name in NUMBERS if (number := sysctl_number(name)) is not None},
    }


def device() -> dict[str, Any]:
    """The devices, as MLX reports them."""
    from pie_mlx.backends.device import device_report

    return device_report()


def kernel_record(environment: Mapping[str, str]) -> Any:
    """The record of the kernels, None if there is none. Raises OSError, InvalidArgumentError."""
    from pie_mlx.metal.record import record_file

    file = record_file(environment)
    return json_value(file.read_bytes()) if file.exists() else None


def kernel_cases(common: Common) -> Any:
    """Run every kernel case now, on an Apple GPU only: elsewhere the test suite does."""
    from pie_mlx.backends.choice import launcher_to_check
    from pie_mlx.backends.device import has_apple_gpu

    if not has_apple_gpu():
        return "not run: there is no Apple GPU"
    from pie_mlx.cli.doctor.kernels import announced, chosen_cases
    from pie_mlx.metal.checks.selfcheck import as_rows, check_kernels

    with progress_line(common) as (show, _):
        cases = announced(chosen_cases(()), show)
        return as_rows(check_kernels(launcher_to_check(os.environ), time.perf_counter, cases))
