"""Which backend this process has: what PIE_METAL asks for on the device that MLX takes."""

import functools
import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from pie_mlx.backends.apple import AppleBackend
from pie_mlx.backends.base import Backend
from pie_mlx.backends.device import check_device, has_apple_gpu, on_gpu
from pie_mlx.backends.emulator import EmulatorBackend
from pie_mlx.errors import ConfigError
from pie_mlx.metal.emulator import Builder, Emulator, cache_folder
from pie_mlx.metal.launcher import KernelLauncher, emulator_launcher, metal_launcher

Kernels = Literal["metal", "emulate", "off"]
"""Who runs the kernels: the Apple GPU, the emulator, or MLX operations stand in for them."""

_AUTO = "auto"

_forced: list[Backend] = []


def chosen_kernels(wish: str, *, apple_gpu: bool) -> Kernels:
    """What PIE_METAL=`wish` gives where MLX computes on an `apple_gpu` or not. Raises ConfigError for another value."""
    match wish:
        case "off" | "emulate":
            return wish
        case "auto":
            return "metal" if apple_gpu else "off"
        case _:
            raise ConfigError(f"PIE_METAL={wish}: unknown value", hint="use auto, emulate or off")


def wish_of(environment: Mapping[str, Any]) -> str:
    """What PIE_METAL asks for."""
    return environment.get("PIE_METAL", _AUTO)


def on_apple_gpu() -> bool:
    """Whether MLX computes on an Apple GPU."""
    return on_gpu() and has_apple_gpu()


def choose_backend(wish: str, *, gpu: bool, apple_gpu: bool) -> Backend:
    """The backend for PIE_METAL=`wish` where MLX computes on a `gpu`, Apple's or another. Raises ConfigError."""
    kernels = chosen_kernels(wish, apple_gpu=apple_gpu)
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
    return _forced[-1] if _forced else _chosen(wish_of(os.environ))


@functools.cache
def _chosen(wish: str) -> Backend:
    return choose_backend(wish, gpu=on_gpu(), apple_gpu=on_apple_gpu())


@contextmanager
def using(backend: Backend) -> Generator[Backend]:
    """Inside, `backend` is that of this process, on all of its threads; models keep the one they were loaded with."""
    _forced.append(backend)
    try:
        yield backend
    finally:
        _forced.remove(backend)


def launcher_to_check(environment: Mapping[str, str]) -> KernelLauncher:
    """The Apple GPU with all its kernels if MLX computes on one, else the emulator.

    Raises ConfigError on a Mac without a GPU: the emulator is for other machines.
    """
    check_device()
    if on_apple_gpu():
        return metal_launcher()
    return emulator_launcher(Emulator(Builder(cache_folder(environment))))
