"""How programs are kept apart."""

from dataclasses import dataclass
from typing import Literal

from pie_mlx.runtime.network.settings import NetworkSettings

Isolation = Literal["inline", "process"]
SandboxMode = Literal["required", "best-effort", "off"]


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Bounds of every worker. A limit of None is none.

    `scratch_directory` is where the files of programs are kept, one directory per user and program; None: programs have
    no lasting files. `environment` names the variables programs may see besides the usual ones. `warm_workers` wait for
    a launch at any time. `network` is what programs reach over HTTP; None: nothing.
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
