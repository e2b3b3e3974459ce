"""What a process may do, and which restrictions could not be enforced."""

from dataclasses import dataclass

RESTRICTIONS = ("files", "network", "processes")
"""The restrictions of a complete sandbox: on files, on the network, and on starting and disturbing processes."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Absolute paths: `readable` and `writable` trees are open, everything else is closed.

    Of the network only TCP port `proxy_port` of this machine is open, if set. An `isolated` process has already moved
    to its own network namespace, and the port is in that. `executable` files may replace the process's program; they
    are readable too. With `compiles` the process writes code that it executes.
    """

    readable: tuple[str, ...]
    writable: tuple[str, ...] = ()
    proxy_port: int | None = None
    isolated: bool = False
    executable: tuple[str, ...] = ()
    compiles: bool = False


@dataclass(frozen=True, slots=True)
class Confinement:
    """Why a restriction is missing, by its name; empty if all are enforced."""

    missing: dict[str, str]

    @property
    def text(self) -> str:
        return "; ".join(
            f"{wall} {'is' if wall == 'network' else 'are'} open ({reason})" for wall, reason in self.missing.items()
        )
