"""The walls cannot be taken down or climbed over from inside."""

import ctypes
import os
import resource

libc = ctypes.CDLL(None, use_errno=True)
PR_SET_PDEATHSIG, PR_SET_SECCOMP = 1, 22


def called(result):
    return result >= 0 or None


def has_capabilities():
    """Version 3 of capget; any bit that is effective, permitted or inheritable counts."""
    head, data = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    if libc.capget(head, data) < 0:
        return None
    return any(data) or None


WAYS = {
    "user namespace": lambda: called(libc.unshare(0x10000000)),
    "mount namespace": lambda: called(libc.unshare(0x00020000)),
    "network of another": lambda: called(libc.setns(os.open(f"/proc/{os.getppid()}/ns/net", os.O_RDONLY), 0)),
    "another root": lambda: called(libc.chroot(b".")),
    "pivot": lambda: called(libc.syscall(155, b".", b".")) if os.uname().machine == "x86_64" else None,
    "mount": lambda: called(libc.mount(b"none", b".", b"tmpfs", 0, None)),
    "new mount": lambda: called(libc.syscall(430, b"tmpfs", 0)),
    "mount tree": lambda: called(libc.syscall(428, -100, b"/", 1)),
    "no filter": lambda: called(libc.prctl(PR_SET_SECCOMP, 0, 0, 0, 0)),
    "life after the engine": lambda: called(libc.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)),
    "old personality": lambda: called(libc.personality(0x0400000)),
    "open file limit": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1 << 20, 1 << 20)) or True,
    "memory limit": lambda: resource.setrlimit(resource.RLIMIT_DATA, (-1, -1)) or True,
    "core files": lambda: resource.setrlimit(resource.RLIMIT_CORE, (-1, -1)) or True,
    "faster": lambda: os.nice(-5) or True,
    "BPF": lambda: called(libc.syscall({"x86_64": 321}.get(os.uname().machine, 280), 0, 0, 0)),
    "performance counters": lambda: open("/proc/sys/kernel/perf_event_paranoid", "w"),
    "kernel keys": lambda: called(libc.syscall({"x86_64": 250}.get(os.uname().machine, 219), 0, -3, 0)),
    "io_uring": lambda: called(libc.syscall(425, 8, ctypes.create_string_buffer(120))),
    "older system calls": lambda: called(libc.syscall(0x40000000 + 39)) if os.uname().machine == "x86_64" else None,
}


async def main(input):
    worked = []
    for name, way in WAYS.items():
        try:
            found = way()
        except Exception:
            continue
        if found:
            worked.append(name)
    return {"tried": len(WAYS), "worked": worked}
