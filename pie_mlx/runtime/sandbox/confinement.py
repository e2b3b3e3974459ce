"""Confines this process with the means of its system."""

import importlib
import sys

from pie_mlx.runtime.sandbox.interpreter import interpreter_paths
from pie_mlx.runtime.sandbox.policy import RESTRICTIONS, Confinement, Policy


def prepare() -> None:
    """Preload what `confine` needs, in a process whose children will confine themselves."""
    interpreter_paths()
    if sys.platform == "linux":
        importlib.import_module("pie_mlx.runtime.sandbox.linux")
        importlib.import_module("pie_mlx.runtime.sandbox.seccomp").prepare_filters()
        importlib.import_module("pie_mlx.runtime.sandbox.namespace")
    elif sys.platform == "darwin":
        importlib.import_module("pie_mlx.runtime.sandbox.seatbelt")


def confine(policy: Policy) -> Confinement:
    """Permanently confine this process, as far as its system can. Call it while the process has one thread."""
    if sys.platform == "linux":
        from pie_mlx.runtime.sandbox.linux import confine_linux

        return Confinement(confine_linux(policy))
    if sys.platform == "darwin":
        from pie_mlx.runtime.sandbox.seatbelt import confine_macos

        return Confinement(confine_macos(policy))
    return Confinement(dict.fromkeys(RESTRICTIONS, f"{sys.platform} has no supported sandbox"))
