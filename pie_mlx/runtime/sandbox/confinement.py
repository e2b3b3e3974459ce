"""What a process may do, and how much of that could be enforced."""

import importlib
import sys
from dataclasses import dataclass

from pie_mlx.runtime.sandbox.interpreter import interpreter_paths

WALLS = ("files", "network", "processes")
"""What a complete sandbox keeps a program from: other files, the network, starting and disturbing processes."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Absolute paths: `readable` and `writable` ones are open with all below them, everything else is closed.

    Of the network only TCP port `proxy_port` of this machine is open, if there is one. An `isolated` process has left
    the machine's network for one of its own already, and the port is one of that.
    """

    readable: tuple[str, ...]
    writable: tuple[str, ...] = ()
    proxy_port: int | None = None
    isolated: bool = False


@dataclass(frozen=True, slots=True)
class Confinement:
    """Why a wall could not be built, by the wall; nothing when all stand."""

    missing: dict[str, str]

    @property
    def text(self) -> str:
        return "; ".join(
            f"{wall} {'is' if wall == 'network' else 'are'} open ({reason})" for wall, reason in self.missing.items()
        )


def prepare() -> None:
    """Load ahead what `confine` needs, in a process whose children will confine themselves."""
    interpreter_paths()
    if sys.platform == "linux":
        importlib.import_module("pie_mlx.runtime.sandbox.linux")
        importlib.import_module("pie_mlx.runtime.sandbox.seccomp").prepare_filters()
        importlib.import_module("pie_mlx.runtime.sandbox.namespace")
    elif sys.platform == "darwin":
        importlib.import_module("pie_mlx.runtime.sandbox.seatbelt")


def confine(policy: Policy) -> Confinement:
    """Confine this process for good, as far as this system can. To be called while it has one thread."""
    if sys.platform == "linux":
        from pie_mlx.runtime.sandbox.linux import confine_linux

        return Confinement(confine_linux(policy))
    if sys.platform == "darwin":
        from pie_mlx.runtime.sandbox.seatbelt import confine_macos

        return Confinement(confine_macos(policy))
    return Confinement(dict.fromkeys(WALLS, f"{sys.platform} has no sandbox that is known here"))
