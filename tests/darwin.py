"""Python as it is on macOS, as far as Linux can play it: the name of the platform, what its modules lack, and stand-ins
for Apple's libraries that answer what the kernel here knows, in the structures of Apple's headers.

`pretend()` changes this interpreter for good: call it in one of its own, before anything of pie_mlx is imported.
"""

import ctypes
import fcntl
import mmap
import os
import resource
import select
import signal
import socket
import struct
import sys
import sysconfig
import time
import types
from fnmatch import fnmatchcase

import wasmtime  # noqa: F401 - its library is chosen by the platform, and that of macOS does not load here

_LACKING = {
    os: "sched_* getrandom GRND_* memfd_create MFD_* eventfd* EFD_* pidfd_open posix_fadvise POSIX_FADV_* "
    "posix_fallocate pipe2 setresuid setresgid getresuid getresgid copy_file_range splice SPLICE_* setxattr "
    "getxattr listxattr removexattr XATTR_* O_PATH O_TMPFILE O_DIRECT O_NOATIME O_RSYNC fdatasync "
    "waitid P_PIDFD unshare setns CLONE_*",
    signal: "sigtimedwait sigwaitinfo SIGRTMIN SIGRTMAX SIGPWR SIGPOLL SIGCLD SIGSTKFLT pidfd_send_signal",
    select: "epoll EPOLL*",
    socket: "SO_PEERCRED SO_PASSCRED SO_DOMAIN SO_PROTOCOL SO_MARK SO_BINDTODEVICE SO_PRIORITY SOCK_CLOEXEC "
    "SOCK_NONBLOCK MSG_CMSG_CLOEXEC MSG_CONFIRM MSG_ERRQUEUE MSG_FASTOPEN MSG_MORE TCP_QUICKACK TCP_CORK "
    "TCP_DEFER_ACCEPT TCP_USER_TIMEOUT TCP_KEEPIDLE AF_NETLINK AF_PACKET AF_ALG AF_VSOCK",
    resource: "prlimit RLIMIT_MSGQUEUE RLIMIT_NICE RLIMIT_RTPRIO RLIMIT_SIGPENDING RUSAGE_THREAD",
    mmap: "MAP_POPULATE MAP_STACK MAP_DENYWRITE MAP_EXECUTABLE MADV_DONTFORK MADV_HUGEPAGE",
    fcntl: "F_SETPIPE_SZ F_GETPIPE_SZ F_ADD_SEALS F_OFD_* F_SETLEASE F_NOTIFY",
    time: "CLOCK_BOOTTIME CLOCK_TAI pthread_getcpuclockid",
}
"""Names, by pattern, that these modules do not have on macOS."""

SYSCTLS = {
    b"hw.memsize": (64 << 30).to_bytes(8, "little"),
    b"hw.model": b"Mac16,5\0",
    b"kern.osversion": b"25C56\0",
    b"machdep.cpu.brand_string": b"Apple M4 Max\0",
    b"sysctl.proc_translated": (0).to_bytes(4, "little"),
    b"hw.optional.arm64": (1).to_bytes(4, "little"),
}
F_NOCACHE = 48


def pretend():
    """Be macOS from now on."""
    sysconfig.get_config_vars()  # those of this interpreter, which is built for Linux
    for module, words in _LACKING.items():
        for name in [name for name in vars(module) if any(fnmatchcase(name, word) for word in words.split())]:
            delattr(module, name)
    sys.modules.pop("selectors", None)  # it has looked at `select` already
    sys.platform = "darwin"
    os.sysconf = _sysconf
    fcntl.F_NOCACHE = F_NOCACHE
    fcntl.fcntl = _fcntl(fcntl.fcntl)
    ctypes.CDLL = _loading(ctypes.CDLL)
    sys.modules["_scproxy"] = _scproxy(os.getpid())


def _sysconf(name):
    raise ValueError(f"unrecognized configuration name: {name}")


def _fcntl(function):
    return lambda file, command, argument=0: 0 if command == F_NOCACHE else function(file, command, argument)


def _loading(function):
    libraries = {"/usr/lib/libproc.dylib": _LibProc, "/usr/lib/libSystem.B.dylib": _LibSystem}
    return lambda name, *args, **more: libraries[name]() if name in libraries else function(name, *args, **more)


def _scproxy(process_id):
    """How urllib asks for the system's proxies, through a library that a forked process must not use."""

    def proxies():
        if os.getpid() != process_id:
            os.abort()
        return {}

    module = types.ModuleType("_scproxy")
    module._get_proxies = module._get_proxy_settings = proxies
    return module


class _LibSystem:
    def sysctlbyname(self, name, answer, size, new, new_size):
        value = SYSCTLS.get(name)
        if value is None or len(value) > len(answer):
            return -1
        answer[: len(value)] = value
        ctypes.memmove(size, ctypes.byref(ctypes.c_size_t(len(value))), ctypes.sizeof(ctypes.c_size_t))
        return 0

    def mach_timebase_info(self, ratio):
        """That of Apple silicon: 24 million ticks a second."""
        ratio[:] = [125, 3]
        return 0

    def sandbox_init(self, profile, flags, message):
        """Takes any profile, and builds no wall."""
        return 0


class _LibProc:
    def proc_pid_rusage(self, pid, flavor, info):
        """rusage_info_v0: an identifier of 16 bytes, seven counters, the footprint."""
        try:
            with open(f"/proc/{pid}/statm") as file:
                resident = int(file.read().split()[1]) * mmap.PAGESIZE
        except OSError:
            return -1
        info[: 16 + 8 * 8] = struct.pack("=16x7QQ", *[1] * 7, resident)
        return 0

    def proc_listchildpids(self, pid, pids, size):
        """Answers how many there are, not their bytes."""
        found = []
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children") as file:
                    found += map(int, file.read().split())
        except OSError:
            return 0
        pids[: len(found)] = found
        return len(found)

    def proc_pidinfo(self, pid, flavor, argument, info, size):
        return {1: self._descriptors, 4: self._task}.get(flavor, lambda *_: 0)(pid, info)

    def _task(self, pid, info):
        """proc_taskinfo: six sizes and times, nine counters, the number of threads, two more."""
        try:
            threads = len(os.listdir(f"/proc/{pid}/task"))
        except OSError:
            return 0
        info[:96] = struct.pack("=6Q9iiii", *[1] * 15, threads, 1, 31)
        return 96

    def _descriptors(self, pid, info):
        """proc_fdinfo of each: its number, and that it is a file."""
        try:
            found = b"".join(struct.pack("=iI", int(name), 1) for name in os.listdir(f"/proc/{pid}/fd"))
        except OSError:
            return 0
        info[: len(found)] = found
        return len(found)

    def proc_pidfdinfo(self, pid, descriptor, flavor, info, size):
        """proc_fileinfo, then vnode_info: device, mode, links, inode, owner, times, size, blocks."""
        try:
            found = os.stat(f"/proc/{pid}/fd/{descriptor}")
        except OSError:
            return 0
        whose = found.st_dev & 0xFFFFFFFF, found.st_mode, min(found.st_nlink, 0xFFFF), found.st_ino
        packed = struct.pack("=24xIHHQ72xqq48x", *whose, found.st_size, found.st_blocks)
        info[: len(packed)] = packed
        return len(packed)
