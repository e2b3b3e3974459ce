"""A filter of system calls: only calls that programs are known to need are allowed.

This excludes other processes, memory that limits do not count, and sockets, except for socket pairs (which event loops
use) and, if there is a proxy, TCP over IPv4. Landlock protects files, but not modes, owners, times and attributes:
changing those is refused everywhere.
"""

import ctypes
import errno
import functools
import os
import platform
import socket
import struct
from itertools import product

from pie_mlx.runtime.sandbox.bpf import ALLOW, Check, Rule, Step, Verdict, all_calls, one_call, only_on, refusal
from pie_mlx.runtime.sandbox.syscalls import ABSENT, DISPENSABLE, NEW_THREADS, NODE, PYTHON

REFUSE = refusal(errno.EPERM)

_libc = ctypes.CDLL(None, use_errno=True)

_SECCOMP_SET_MODE_FILTER = 1

MACHINES = {"x86_64": (0xC000003E, 0, 317), "aarch64": (0xC00000B7, 1, 277)}
"""By machine: its audit architecture, its column in `syscalls`, and the number of the seccomp call."""

_THREAD_STORAGE = 0x1002
"""For `arch_prctl`: where a program that begins keeps what belongs to its thread."""

_THREAD_FLAGS = 0x3D0F00
"""Flags of `clone` for a thread, as C libraries set them."""
_OTHER_THREAD_FLAGS = 0x1400000
"""Set by some C libraries: one without effect, and where to write the thread id."""

_MAPPINGS = (0x1, 0x2, 0x3, 0x22)
"""Shared or private files, and private memory: RLIMIT_DATA does not count shared memory."""
_MAP_HARMLESS = 0x10 | 0x40 | 0x800 | 0x1000 | 0x4000 | 0x8000 | 0x10000 | 0x20000 | 0x100000
"""Placement and population. Not growing stacks, which RLIMIT_DATA does not count, nor locked or huge pages."""

_ADVICE = (0, 1, 2, 3, 4, 8, 14, 15, 16, 17, 18, 19, 22, 23)
"""For `madvise`: not merging pages with other processes, which leaks their contents."""

_DUPLICATES_AND_FLAGS, _LOCKS, _OPEN_FILE_LOCKS = (0, 1, 2, 3, 4, 1030), (5, 6, 7), (36, 37, 38)
_PIPE_SIZE = 1032
"""Reading it, not setting it."""

_TERMINAL, _FILE_IO = (0x5401, 0x802C542A, 0x5413), (0x5421, 0x5450, 0x5451, 0x541B, 0x40049409)
"""For `ioctl`: reading terminal settings and size; descriptor modes, pending bytes, and sharing a file's blocks."""

_NAMES_OF_THREADS = (15, 16)

_FAST_OPEN = 0x20000000
"""A flag that makes a send connect, unseen by Landlock."""
_KIND_FLAGS = 0x80800
"""Non-blocking and close-on-exec."""
_IP_LEVEL, _SOCKET_LEVEL, _TCP_LEVEL = 0, 1, 6
_IP_OPTIONS = (1,)
"""The type of service."""
_SOCKET_OPTIONS = (2, 7, 8, 9, 10, 13, 15, 20, 21)
_TCP_OPTIONS = (1, 4, 5, 6, 12, 18)

_SOCKET_OPTION_RULES: tuple[Rule, ...] = (
    (Check(1, (_SOCKET_LEVEL,)), Check(2, _SOCKET_OPTIONS)),
    (Check(1, (_TCP_LEVEL,)), Check(2, _TCP_OPTIONS)),
)
_CHECKED: dict[str, Verdict] = {
    "clone": ((Check(0, (_THREAD_FLAGS,), _OTHER_THREAD_FLAGS),),),
    "mmap": ((Check(3, _MAPPINGS, _MAP_HARMLESS),),),
    "madvise": ((Check(2, _ADVICE),),),
    "fcntl": ((Check(1, (*_DUPLICATES_AND_FLAGS, *_LOCKS, *_OPEN_FILE_LOCKS, _PIPE_SIZE)),),),
    "ioctl": ((Check(1, (*_TERMINAL, *_FILE_IO)),),),
    "prctl": ((Check(0, _NAMES_OF_THREADS),),),
    "getpgid": ((Check(0, (0,)),),),
    "getsid": ((Check(0, (0,)),),),
    "socketpair": ((Check(0, (socket.AF_UNIX,)), Check(1, (socket.SOCK_STREAM,), _KIND_FLAGS), Check(2, (0,))),),
    "setsockopt": _SOCKET_OPTION_RULES,
    "sendto": ((Check(3, (0,), ~_FAST_OPEN),),),
    "sendmsg": ((Check(2, (0,), ~_FAST_OPEN),),),
    "sendmmsg": ((Check(3, (0,), ~_FAST_OPEN),),),
}
_TCP: dict[str, Verdict] = {
    "connect": ALLOW,
    # Explicitly TCP: similar protocols (MPTCP, SMC) would bypass Landlock's TCP ports.
    "socket": (
        (
            Check(0, (socket.AF_INET,)),
            Check(1, (socket.SOCK_STREAM,), _KIND_FLAGS),
            Check(2, (0, socket.IPPROTO_TCP)),
        ),
    ),
}
_OF_NODE: dict[str, Verdict] = {
    "arch_prctl": ((Check(0, (_THREAD_STORAGE,)),),),
    # Answered "as usual" for any thread: a true answer would tell which processes there are.
    "sched_getparam": refusal(0),
    "sched_getscheduler": refusal(0),
    # Answered "done": copies of files have no modes of their own.
    "fchmod": refusal(0),
    "setsockopt": ((Check(1, (_IP_LEVEL,)), Check(2, _IP_OPTIONS)), *_SOCKET_OPTION_RULES),
}
_TO_ITSELF = ("kill", "tgkill", "prlimit64")
"""Their first argument must be this process, or 0 if that means it or its group."""


def prepare_filters() -> None:
    """Precompute what is the same in every process."""
    if (machine := MACHINES.get(platform.machine())) is not None:
        for with_tcp, with_execution in product((False, True), repeat=2):
            common_steps(machine[1], with_tcp=with_tcp, with_execution=with_execution)


def install_filter(*, with_tcp: bool = False, with_execution: bool = False) -> None:
    """Filter the calls of this thread and of threads it starts; `with_tcp` allows sockets for TCP over IPv4,
    `with_execution` what Node needs, which this process executes next.

    Raises OSError if that fails.
    """
    machine = MACHINES.get(platform.machine())
    if machine is None:
        raise OSError(errno.ENOSYS, f"seccomp: the calls of {platform.machine()} are unknown")
    audit, column, install = machine
    program = filter_program(audit, column, os.getpid(), with_tcp=with_tcp, with_execution=with_execution)
    instructions = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(instructions))
    header = ctypes.create_string_buffer(head, len(head))
    if _libc.syscall(ctypes.c_long(install), _SECCOMP_SET_MODE_FILTER, 0, header) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"seccomp: {os.strerror(code)}")


def filter_program(
    audit: int, column: int, process_id: int, *, with_tcp: bool = False, with_execution: bool = False
) -> bytes:
    """The filter, as instructions of the kernel's packet filter."""
    steps = only_on(audit)
    for name in _TO_ITSELF:
        own = (process_id,) if name == "tgkill" else (process_id, 0)
        steps += one_call(PYTHON[name][column], ((Check(0, own),),), REFUSE)
    return b"".join((*steps, *common_steps(column, with_tcp=with_tcp, with_execution=with_execution)))


@functools.cache
def common_steps(column: int, *, with_tcp: bool = False, with_execution: bool = False) -> tuple[Step, ...]:
    """The part of the filter that is the same in every process."""
    verdicts: dict[str, Verdict] = dict.fromkeys(PYTHON, ALLOW) | _CHECKED
    verdicts |= _TCP if with_tcp else dict.fromkeys(_TCP, REFUSE)
    verdicts |= dict.fromkeys(NEW_THREADS, refusal(errno.ENOSYS)) | dict.fromkeys(DISPENSABLE, refusal(errno.ENOTSUP))
    if with_execution:
        verdicts |= dict.fromkeys(NODE, ALLOW) | _OF_NODE
    calls = PYTHON | NODE | NEW_THREADS | DISPENSABLE
    numbered = {calls[name][column]: verdict for name, verdict in verdicts.items() if calls[name][column] != ABSENT}
    return tuple(all_calls(numbered, REFUSE))
