"""A filter of system calls: no sockets, no processes, no reach beyond this one.

Sockets cannot be made at all, but for pairs that lead nowhere (event loops use them), and for TCP over IPv4 where there
is a proxy to reach. Files are Landlock's matter, but for modes, owners, times and attributes, which Landlock does not
know: changing them is refused everywhere.
"""

import ctypes
import errno
import functools
import os
import platform
import socket
import struct

_libc = ctypes.CDLL(None, use_errno=True)

_SECCOMP_SET_MODE_FILTER = 1
_ALLOW, _ERRNO, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER_PLACE, _ARCHITECTURE_PLACE = 0, 4
_FIRST_ARGUMENT_PLACE, _SECOND_ARGUMENT_PLACE, _THIRD_ARGUMENT_PLACE = 16, 24, 32
_CLONE_THREAD = 0x10000
_X32_BIT = 0x40000000
_NONBLOCK, _CLOEXEC = 0x800, 0x80000
_FAST_OPEN = 0x20000000

_MACHINES = {"x86_64": (0xC000003E, 0, 317), "aarch64": (0xC00000B7, 1, 277)}
"""By machine: its number in the kernel's audit, its column below, and the number of the call that installs a filter."""

_NONE = -1
_REFUSED: dict[str, tuple[int, int]] = {
    "fork": (57, _NONE),
    "vfork": (58, _NONE),
    "execve": (59, 221),
    "execveat": (322, 281),
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "setpriority": (141, 140),
    "personality": (135, 92),
    "unshare": (272, 97),
    "setns": (308, 268),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "shmget": (29, 194),
    "semget": (64, 190),
    "msgget": (68, 186),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "chmod": (90, _NONE),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, _NONE),
    "fchown": (93, 55),
    "lchown": (94, _NONE),
    "fchownat": (260, 54),
    "utime": (132, _NONE),
    "utimes": (235, _NONE),
    "futimesat": (261, _NONE),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "mknod": (133, _NONE),
    "mknodat": (259, 33),
    "open_by_handle_at": (304, 265),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "mount_setattr": (442, 442),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "syslog": (103, 116),
}
_CLONE, _CLONE3, _SOCKET = (56, 220), (435, 435), (41, 198)
_SENDING = {"sendto": ((44, 206), 40), "sendmsg": ((46, 211), 32), "sendmmsg": ((307, 269), 40)}
"""With the place of their flags."""
_TO_ITSELF = {"kill": (62, 129), "tgkill": (234, 131), "prlimit64": (302, 261)}
"""Calls whose first argument must be this process, or 0 which means it or its group."""


def install_filter(*, with_tcp: bool = False) -> None:
    """Filter the calls of this thread and of all it will start; `with_tcp` leaves sockets for TCP over IPv4.

    Raises OSError where that cannot be done.
    """
    machine = _MACHINES.get(platform.machine())
    if machine is None:
        raise OSError(errno.ENOSYS, f"seccomp: the calls of {platform.machine()} are not known here")
    audit, column, install = machine
    program = filter_program(audit, column, os.getpid(), with_tcp=with_tcp)
    instructions = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(instructions))
    header = ctypes.create_string_buffer(head, len(head))
    if _libc.syscall(ctypes.c_long(install), _SECCOMP_SET_MODE_FILTER, 0, header) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"seccomp: {os.strerror(code)}")


def filter_program(audit: int, column: int, process_id: int, *, with_tcp: bool = False) -> bytes:
    """The filter, as instructions of the kernel's packet filter."""
    steps = _tcp_only(column) if with_tcp else [_step(_EQUAL, _SOCKET[column], 0, 1), _REFUSE]
    for name, numbers in _TO_ITSELF.items():
        own_group = 0 if name == "prlimit64" else process_id
        steps += [
            _step(_EQUAL, numbers[column], 0, 5),
            _step(_LOAD, _FIRST_ARGUMENT_PLACE),
            _step(_EQUAL, process_id, 2, 0),
            _step(_EQUAL, own_group, 1, 0),
            _REFUSE,
            _step(_RETURN, _ALLOW),
        ]
    return b"".join([common_program(audit, column), *steps, _step(_RETURN, _ALLOW)])


def _tcp_only(column: int) -> list[bytes]:
    """By name: Landlock's ports are TCP's, and protocols that are like it (MPTCP, SMC) would slip past them."""
    kinds = (socket.SOCK_STREAM | flags for flags in (0, _NONBLOCK, _CLOEXEC, _NONBLOCK | _CLOEXEC))
    wanted: tuple[tuple[int, tuple[int, ...]], ...] = (
        (_FIRST_ARGUMENT_PLACE, (socket.AF_INET,)),
        (_SECOND_ARGUMENT_PLACE, tuple(kinds)),
        (_THIRD_ARGUMENT_PLACE, (0, socket.IPPROTO_TCP)),
    )
    checks: list[bytes] = []
    for place, values in wanted:
        checks.append(_step(_LOAD, place))
        checks += [_step(_EQUAL, value, len(values) - at, 0) for at, value in enumerate(values)]
        checks.append(_REFUSE)
    return [_step(_EQUAL, _SOCKET[column], 0, len(checks) + 1), *checks, _step(_RETURN, _ALLOW), *_no_fast_open(column)]


def _no_fast_open(column: int) -> list[bytes]:
    """Sending can connect as well, and Landlock does not see it."""
    steps: list[bytes] = []
    for numbers, flags_place in _SENDING.values():
        steps += [
            _step(_EQUAL, numbers[column], 0, 4),
            _step(_LOAD, flags_place),
            _step(_ANY_BIT, _FAST_OPEN, 0, 1),
            _REFUSE,
            _step(_RETURN, _ALLOW),
        ]
    return steps


@functools.cache
def common_program(audit: int, column: int) -> bytes:
    """The part of the filter that is the same in every process."""
    steps = [
        _step(_LOAD, _ARCHITECTURE_PLACE),
        _step(_EQUAL, audit, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER_PLACE),
        _step(_AT_LEAST, _X32_BIT, 0, 1),
        _REFUSE,
        # Without it, the C library starts threads by the older call, whose flags can be looked at.
        _step(_EQUAL, _CLONE3[column], 0, 1),
        _step(_RETURN, _ERRNO | errno.ENOSYS),
    ]
    for numbers in _REFUSED.values():
        if numbers[column] != _NONE:
            steps += [_step(_EQUAL, numbers[column], 0, 1), _REFUSE]
    steps += [
        _step(_EQUAL, _CLONE[column], 0, 4),
        _step(_LOAD, _FIRST_ARGUMENT_PLACE),
        _step(_ANY_BIT, _CLONE_THREAD, 1, 0),
        _REFUSE,
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(steps)


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("<HBBI", code, if_true, if_false, value)


_REFUSE = _step(_RETURN, _ERRNO | errno.EPERM)
