"""Every system call of the machine is allowed or refused as written here; nothing else is allowed."""

import errno
import json
import platform
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from pie_mlx.runtime.sandbox.seccomp import MACHINES, filter_program
from tests.runtime.sandbox.conftest import on_linux

OWN = 4711
KILL, ALLOW, REFUSE = 0x80000000, 0x7FFF0000, 0x00050000 | errno.EPERM
TABLE = [
    line.split()
    for line in Path(__file__).with_name("system_calls.txt").read_text().splitlines()
    if not line.startswith("#")
]
LATER_CALLS = range(471, 600)

_ALLOWED = """
access alarm brk chdir clock_getres clock_gettime clock_nanosleep close close_range copy_file_range creat dup dup2
dup3 epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait eventfd eventfd2 exit exit_group
faccessat faccessat2 fadvise64 fchdir fdatasync flock fstat fstatfs fsync ftruncate futex futex_requeue
futex_wait futex_waitv futex_wake getcpu getcwd getdents getdents64 getegid geteuid getgid getgroups getitimer
getpeername getpgrp getpid getppid getrandom getresgid getresuid getrlimit getrusage getsockname getsockopt gettid
gettimeofday getuid link linkat lseek lstat membarrier mkdir mkdirat mprotect mremap mseal msync munmap nanosleep
newfstatat open openat openat2 pause pipe pipe2 poll ppoll pread64 preadv preadv2 pselect6 pwrite64 pwritev pwritev2
read readahead readlink readlinkat readv recvfrom recvmmsg recvmsg rename renameat renameat2 restart_syscall rmdir
rseq rt_sigaction rt_sigpending rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_getaffinity
sched_yield select sendfile set_robust_list set_tid_address setitimer shutdown sigaltstack stat statfs statx symlink
symlinkat sysinfo time timerfd_create timerfd_gettime timerfd_settime times truncate umask uname unlink unlinkat
wait4 waitid write writev
"""
ALLOWED = frozenset(_ALLOWED.split())
"""Whatever their arguments are."""

LIMITED = {
    "clone": [((0x3D0F00,), True), ((0x7D0F00,), True), ((17,), False), ((0x3D0F00 | 0x40000000,), False)],
    "mmap": [
        ((0, 1, 3, 0x22), True),  # memory
        ((0, 1, 3, 0x20022), True),  # a thread's stack
        ((0, 1, 3, 0x4022), True),  # a reservation
        ((0, 1, 1, 0x802), True),  # a library
        ((0, 1, 3, 0x01), True),  # a shared file
        ((0, 1, 3, 0x21), False),  # memory that could be shared
        ((0, 1, 3, 0x122), False),  # a stack that grows
        ((0, 1, 3, 0x40022), False),  # huge pages
        ((0, 1, 3, 0x2022), False),  # locked
    ],
    "madvise": [((0, 1, 4), True), ((0, 1, 14), True), ((0, 1, 12), False)],
    "fcntl": [
        *(((3, command), True) for command in (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)),
        # owners and signals, leases, seals, sizes of pipes, watches on directories
        *(((3, command), False) for command in (8, 9, 10, 11, 15, 16, 1024, 1025, 1026, 1031, 1033, 1034)),
    ],
    "ioctl": [
        *(((3, command), True) for command in (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409)),
        # input for a terminal, a controlling terminal, owners of sockets, signals of descriptors, mark of a file
        *(((3, command), False) for command in (0x5412, 0x540E, 0x8901, 0x8902, 0x5452, 0x40086602)),
    ],
    "prctl": [((15,), True), ((16,), True), *(((option,), False) for option in (1, 4, 8, 22, 24, 28, 35, 36, 38, 47))],
    "getpgid": [((0,), True), ((1,), False)],
    "getsid": [((0,), True), ((1,), False)],
    "socketpair": [
        ((1, 1, 0), True),
        ((1, 0x80801, 0), True),
        ((1, 2, 0), False),
        ((1, 5, 0), False),
        ((2, 1, 0), False),
    ],
    "setsockopt": [
        ((3, 6, 1), True),
        ((3, 1, 2), True),
        ((3, 1, 26), False),  # a filter
        ((3, 1, 50), False),
        ((3, 6, 31), False),  # another protocol
        ((3, 0, 1), False),
    ],
    "sendto": [((3, 0, 1, 0), True), ((3, 0, 1, 0x4000), True), ((3, 0, 1, 0x20000000), False)],
    "sendmsg": [((3, 0, 0x4000), True), ((3, 0, 0x20004000), False)],
    "sendmmsg": [((3, 0, 1, 0), True), ((3, 0, 1, 0x20000000), False)],
    "kill": [((OWN, 9), True), ((0, 9), True), ((1, 9), False), ((0xFFFFFFFF, 9), False)],
    "tgkill": [((OWN, 7, 9), True), ((1, 1, 9), False)],
    "prlimit64": [((0, 7), True), ((OWN, 7), True), ((1, 7), False)],
}
"""Calls that only some arguments are allowed for, with examples."""

INSTEAD = dict.fromkeys(
    ("getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr", "flistxattr", "fallocate"), errno.ENOTSUP
) | {"clone3": errno.ENOSYS}
"""Errors by which C libraries and Python know to do without."""

WITH_TCP = {
    "connect": [((3,), True)],
    "socket": [
        ((2, 1, 0), True),
        ((2, 0x80801, 6), True),
        ((2, 1, 262), False),
        ((2, 2, 0), False),
        ((10, 1, 0), False),
        ((1, 1, 0), False),
        ((16, 3, 0), False),
    ],
}


def answer(program, number, arguments=(), *, architecture):
    """What the filter says to a call."""
    words = [number, architecture, 0, 0]
    for argument in (*arguments, *[0] * (6 - len(arguments))):
        words += [argument, 0]
    place, value = 0, 0
    while True:
        code, if_true, if_false, k = struct.unpack_from("<HBBI", program, 8 * place)
        place += 1
        match code:
            case 0x20:
                value = words[k // 4]
            case 0x54:
                value &= k
            case 0x05:
                place += k
            case 0x15:
                place += if_true if value == k else if_false
            case 0x35:
                place += if_true if value >= k else if_false
            case 0x06:
                return k
            case _:
                raise AssertionError(hex(code))


@pytest.fixture(params=MACHINES)
def machine(request):
    architecture, column, _ = MACHINES[request.param]
    numbers = {row[0]: int(row[1 + column]) for row in TABLE if row[1 + column] != "-"}
    return architecture, column, numbers


@pytest.fixture(params=[False, True], ids=["closed", "tcp"])
def ask(request, machine):
    """The filter's answer to a call by its name or number, and whether programs may use TCP."""
    architecture, column, numbers = machine
    program = filter_program(architecture, column, OWN, with_tcp=request.param)

    def ask(call, *arguments):
        return answer(program, numbers.get(call, call), arguments, architecture=architecture)

    ask.with_tcp = request.param
    ask.numbers = numbers
    return ask


def test_every_call_of_the_machine_is_allowed_or_refused_as_written(ask):
    limited = LIMITED.keys() | (WITH_TCP.keys() if ask.with_tcp else set())
    names = {number: name for name, number in ask.numbers.items()}
    for number in [*range(max(names)), *LATER_CALLS]:
        name = names.get(number, str(number))
        if name in limited:
            continue
        expected = ALLOW if name in ALLOWED else 0x00050000 | INSTEAD.get(name, errno.EPERM)
        assert ask(number) == expected, name


def test_some_calls_are_allowed_for_some_arguments_only(ask):
    for name, examples in (LIMITED | (WITH_TCP if ask.with_tcp else {})).items():
        for arguments, allowed in examples:
            assert ask(name, *arguments) == (ALLOW if allowed else REFUSE), (name, arguments)


def test_calls_of_another_architecture_kill(machine):
    architecture, column, _ = machine
    program = filter_program(architecture, column, OWN)
    assert answer(program, 0, architecture=0x40000003) == KILL


def test_calls_with_the_numbers_of_x32_are_refused(ask):
    assert {ask(0x40000000 | number) for number in range(600)} == {REFUSE}


CONFINED = """
import ctypes, json, os, sys
sys.path.insert(0, sys.argv[1])
from pie_mlx.runtime.sandbox.capabilities import drop_capabilities
from pie_mlx.runtime.sandbox.seccomp import install_filter
drop_capabilities()
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl(38, 1, 0, 0, 0)
install_filter(with_tcp=sys.argv[2] == "tcp")
answers = {}
for number in json.loads(sys.argv[3]):
    ctypes.set_errno(0)
    libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
    answers[number] = ctypes.get_errno()
os.write(1, json.dumps(answers).encode())
os._exit(0)
"""
_NOT_TRIED = {"exit", "exit_group", "rt_sigreturn", "pause", "uprobe", "uretprobe"}
"""They end or wait; the last two no filter sees, and they kill whoever did not come from a probe."""


@on_linux
@pytest.mark.parametrize("kind", ["closed", "tcp"])
def test_the_kernel_answers_a_confined_process_so(kind):
    """With arguments that are wrong for every call."""
    _, column, _ = MACHINES[platform.machine()]
    names = {int(row[1 + column]): row[0] for row in TABLE if row[1 + column] != "-"}
    asked = [number for number in [*range(600), 0x40000001] if names.get(number) not in _NOT_TRIED]
    root = str(Path(__file__).parents[3])
    command = [sys.executable, "-c", CONFINED, root, kind, json.dumps(asked)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    answers = {int(number): error for number, error in json.loads(ended.stdout).items()}
    assert answers.keys() == set(asked)
    for number, error in answers.items():
        name = names.get(number, str(number))
        if name in ALLOWED or (name == "connect" and kind == "tcp"):
            assert error != errno.EPERM, name
        else:  # what is limited is not allowed with these arguments
            assert error == INSTEAD.get(name, errno.EPERM), name
