"""Chooses the backend of this process from PIE_METAL and the device that MLX uses."""

import functools
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from pie_mlx.backends.base import Backend
from pie_mlx.backends.device import check_device, has_apple_gpu, on_gpu
from pie_mlx.backends.kernels import AppleBackend, EmulatorBackend
from pie_mlx.errors import ConfigError
from pie_mlx.metal.emulator import Builder, Emulator, cache_folder
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher, metal_launcher

Kernels = Literal["metal", "emulate", "off"]
"""Who runs the kernels: the Apple GPU, the emulator, or none ("off": MLX operations replace them)."""

_AUTO = "auto"

_forced: list[Backend] = []


def chosen_kernels(requested: str, *, apple_gpu: bool) -> Kernels:
    """Who runs the kernels for PIE_METAL=`requested`. Raises ConfigError for an unknown value."""
    match requested:
        case "off" | "emulate":
            return requested
        case "auto":
            return "metal" if apple_gpu else "off"
        case _:
            raise ConfigError(f"PIE_METAL={requested}: unknown value", hint="use auto, emulate or off")


def requested_kernels(environment: Mapping[str, Any]) -> str:
    """The value of PIE_METAL."""
    return environment.get("PIE_METAL", _AUTO)


def on_apple_gpu() -> bool:
    """Whether MLX computes on an Apple GPU."""
    return on_gpu() and has_apple_gpu()


def choose_backend(requested: str, *, gpu: bool, apple_gpu: bool) -> Backend:
    """The backend for PIE_METAL=`requested`. `gpu` says whether MLX computes on a GPU, `apple_gpu` whether it is
    Apple's. Raises ConfigError."""
    kernels = chosen_kernels(requested, apple_gpu=apple_gpu)
    if kernels == "emulate":
        return EmulatorBackend()
    if kernels == "metal":
        return AppleBackend()
    if gpu:
        return Backend()
    from pie_mlx.backends.cpu import CpuBackend

    return CpuBackend()


def current_backend() -> Backend:
    """The backend of this process. Raises ConfigError."""
    return _forced[-1] if _forced else _chosen(requested_kernels(os.environ))


@functools.cache
def _chosen(requested: str) -> Backend:
    return choose_backend(requested, gpu=on_gpu(), apple_gpu=on_apple_gpu())


@contextmanager
def using(backend: Backend) -> Generator[Backend]:
    """Uses `backend` for this process, on all threads, inside the block. Loaded models keep theirs."""
    _forced.append(backend)
    try:
        yield backend
    finally:
        _forced.remove(backend)


def launcher_to_check(environment: Mapping[str, str]) -> KernelLauncher:
    """A launcher with all kernels, on the Apple GPU if MLX computes on one, otherwise on the emulator.

    Raises ConfigError on a Mac without a GPU: the emulator is for other machines.
    """
    check_device()
    if on_apple_gpu():
        return metal_launcher()
    return emulator_launcher(Emulator(Builder(cache_folder(environment))))
