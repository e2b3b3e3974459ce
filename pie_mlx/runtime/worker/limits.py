"""Resource limits that a process of ours sets for itself."""

import os
import resource
import sys

from pie_mlx.errors import ProcessError
from pie_mlx.runtime.worker.frames.messages import LaunchSpec

THREADS_LIMIT = 256
"""Threads per worker: as many as their stacks fit into the default memory limit."""
_RESERVE_BYTES = 64 << 20
"""Memory beyond the limit, for reporting that it was reached."""
_UNUSED_BYTES = 64 << 30
"""Address space beyond the memory limit. It bounds the kernel's page tables for pages that are only read, a 512th of
this."""

_NODE_BYTES = 573 << 20
"""Writable memory that Node maps before it runs anything: most of it is room for compiled code."""
_READERS_NICENESS = 10


def apply_limits(spec: LaunchSpec) -> None:
    """Limit this process. Not its memory on macOS, where the engine watches it from outside."""
    _apply_common(spec)
    if spec.max_memory_bytes is not None and sys.platform == "linux":
        mapped, writable = _mapped_bytes()
        limit = writable + spec.max_memory_bytes
        bound(resource.RLIMIT_DATA, limit, limit + _RESERVE_BYTES)
        addresses = mapped + spec.max_memory_bytes + _UNUSED_BYTES
        bound(resource.RLIMIT_AS, addresses, addresses)


def limit_node(spec: LaunchSpec) -> None:
    """Limit this process, which then executes Node. Its addresses stay free: WebAssembly reserves many."""
    _apply_common(spec)
    if spec.max_memory_bytes is not None and sys.platform == "linux":
        limit = _NODE_BYTES + spec.max_memory_bytes
        bound(resource.RLIMIT_DATA, limit, limit + _RESERVE_BYTES)


def _apply_common(spec: LaunchSpec) -> None:
    bound(resource.RLIMIT_CORE, 0, 0)
    bound(resource.RLIMIT_FSIZE, spec.scratch_max_bytes, spec.scratch_max_bytes)
    if spec.max_open_files is not None:
        bound(resource.RLIMIT_NOFILE, spec.max_open_files, spec.max_open_files)
    if spec.max_cpu_seconds is not None:
        # The soft limit sends a signal that can be caught, the hard one kills.
        bound(resource.RLIMIT_CPU, spec.max_cpu_seconds, spec.max_cpu_seconds + 1)
    if spec.route == "namespace":
        # Counted per user and namespace: effective in a namespace of its own, unless run by root.
        bound(resource.RLIMIT_NPROC, THREADS_LIMIT, THREADS_LIMIT)


def open_reserve() -> None:
    """Allow the memory reserved for reporting the end."""
    if sys.platform == "linux":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def memory_exceeded(limit_bytes: int) -> ProcessError:
    """The error of a program that used too much memory."""
    return ProcessError(
        f"Memory limit of {limit_bytes >> 20} MiB exceeded",
        hint="hold less at a time, or raise [runtime] max_memory_mb",
    )


def cpu_exceeded(limit_seconds: int) -> ProcessError:
    """The error of a program that used too much processor time."""
    return ProcessError(
        f"CPU limit of {limit_seconds} s exceeded", hint="compute less in the program, or raise [runtime] max_cpu_secs"
    )


def limit_reader(*, cpu_seconds: int, memory_bytes: int) -> None:
    """Limit this process, which is about to read what a stranger wrote: running programs have priority. The memory of a
    Mac's processes is watched from outside."""
    os.nice(_READERS_NICENESS)
    bound(resource.RLIMIT_CORE, 0, 0)
    bound(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + 1)
    if sys.platform == "linux":
        bound(resource.RLIMIT_DATA, memory_bytes, memory_bytes)


def bound(kind: int, soft: int, hard: int) -> None:
    """Lower a limit of this process, unless it is lower already."""
    _, ceiling = resource.getrlimit(kind)
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


def _mapped_bytes() -> tuple[int, int]:
    """Bytes this process has mapped, and bytes of that for data."""
    with open("/proc/self/status") as file:
        sizes = dict(line.split(":", 1) for line in file if line.startswith(("VmSize:", "VmData:")))
    return int(sizes["VmSize"].split()[0]) << 10, int(sizes["VmData"].split()[0]) << 10
