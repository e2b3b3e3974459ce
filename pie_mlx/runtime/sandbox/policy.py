"""What a process may do, and which walls could not be built."""

from dataclasses import dataclass

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
