"""What a worker may use at most."""

import resource
import sys

from pie_mlx.errors import ProcessError
from pie_mlx.runtime.worker.frames.messages import LaunchSpec

THREADS_LIMIT = 256
"""Threads of one worker: as many as have room for their stacks in the usual limit of memory."""
_RESERVE_BYTES = 64 << 20
"""Memory beyond the limit, with which a program that reached it can still say so."""
_UNUSED_BYTES = 64 << 30
"""Addresses beyond the limit of memory that a program may reserve. Nothing else bounds the tables the kernel needs for
pages that are only read, a 512th of this."""


def apply_limits(spec: LaunchSpec) -> None:
    """Bound this process. Memory has no limit on macOS, where the engine watches it from outside."""
    bound(resource.RLIMIT_CORE, 0, 0)
    bound(resource.RLIMIT_FSIZE, spec.scratch_max_bytes, spec.scratch_max_bytes)
    if spec.max_open_files is not None:
        bound(resource.RLIMIT_NOFILE, spec.max_open_files, spec.max_open_files)
    if spec.max_cpu_seconds is not None:
        # The first ends the program by a signal it could catch, the second does not ask.
        bound(resource.RLIMIT_CPU, spec.max_cpu_seconds, spec.max_cpu_seconds + 1)
    if spec.route == "namespace":
        # Counted per user and namespace, this binds a worker that has one of its own, unless root runs it.
        bound(resource.RLIMIT_NPROC, THREADS_LIMIT, THREADS_LIMIT)
    if spec.max_memory_bytes is not None and sys.platform == "linux":
        mapped, writable = _mapped_bytes()
        limit = writable + spec.max_memory_bytes
        bound(resource.RLIMIT_DATA, limit, limit + _RESERVE_BYTES)
        addresses = mapped + spec.max_memory_bytes + _UNUSED_BYTES
        bound(resource.RLIMIT_AS, addresses, addresses)


def open_reserve() -> None:
    """Let this process use the memory kept for saying how it ended."""
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def memory_exceeded(limit_bytes: int) -> ProcessError:
    """How a program that used too much memory ends."""
    return ProcessError(
        f"Memory limit of {limit_bytes >> 20} MiB exceeded",
        hint="hold less at a time, or raise [runtime] max_memory_mb",
    )


def cpu_exceeded(limit_seconds: int) -> ProcessError:
    """How a program that used too much processor time ends."""
    return ProcessError(
        f"CPU limit of {limit_seconds} s exceeded", hint="compute less in the program, or raise [runtime] max_cpu_secs"
    )


def bound(kind: int, soft: int, hard: int) -> None:
    """Lower a limit of this process; one that is lower already stays."""
    _, ceiling = resource.getrlimit(kind)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


def _mapped_bytes() -> tuple[int, int]:
    """What this process has mapped already, and what of that for writing."""
    with open("/proc/self/status") as file:
        sizes = dict(line.split(":", 1) for line in file if line.startswith(("VmSize:", "VmData:")))
    return int(sizes["VmSize"].split()[0]) << 10, int(sizes["VmData"].split()[0]) << 10
