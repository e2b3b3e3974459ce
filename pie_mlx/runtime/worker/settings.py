"""Settings of workers."""

from dataclasses import dataclass
from typing import Literal, get_args

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.network.settings import NetworkSettings

Isolation = Literal["inline", "process"]
SandboxMode = Literal["required", "best-effort", "off"]


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Limits of every worker; None means no limit.

    `scratch_directory` contains the lasting files of programs, one directory per user and program; None: no lasting
    files. `environment` names further variables that programs see. `warm_workers` are forked ahead. `network` is what
    programs may reach over HTTP; None: nothing. With `same_hashes` the order of sets is the same in every run.
    `compiled_directory` keeps the compiled forms of components; None: they last as long as the engine.
    """

    sandbox: SandboxMode = "best-effort"
    scratch_directory: str | None = None
    scratch_max_bytes: int = 1 << 30
    max_memory_bytes: int | None = 2 << 30
    max_cpu_seconds: int | None = None
    max_open_files: int | None = 256
    watchdog_seconds: float = 30.0
    warm_workers: int = 2
    environment: tuple[str, ...] = ()
    network: NetworkSettings | None = None
    same_hashes: bool = False
    compiled_directory: str | None = None


def checked_isolation(isolation: Isolation) -> Isolation:
    """The same. Raises InvalidArgumentError for another value."""
    if isolation not in get_args(Isolation):
        raise InvalidArgumentError(f"isolation {isolation!r}: unknown", hint="choose 'inline' or 'process'")
    return isolation
