"""Other processes can neither be started nor seen, stopped, slowed or read."""

import ctypes
import multiprocessing
import os
import pty
import resource
import signal
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)


def called(result):
    return result >= 0 or None


def read_memory(pid):
    local, remote = (ctypes.c_size_t * 2)(0, 0), (ctypes.c_size_t * 2)(0x1000, 1)
    return called(libc.process_vm_readv(pid, local, 1, remote, 1, 0))


def forked():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    return pid


def child():
    started = multiprocessing.get_context("fork").Process(target=int)
    started.start()
    return True


def ways(pid):
    return {
        "kill": lambda: os.kill(pid, signal.SIGTERM) or True,
        "is it there": lambda: os.kill(pid, 0) or True,
        "kill a group": lambda: os.killpg(os.getpgid(pid), signal.SIGTERM) or True,
        "kill everything": lambda: os.kill(-1, 0) or True,
        "kill the parent": lambda: os.kill(os.getppid(), signal.SIGTERM) or True,
        "queue a signal": lambda: called(libc.sigqueue(pid, signal.SIGTERM, 0)),
        "pidfd": lambda: os.pidfd_open(pid),
        "ptrace": lambda: called(libc.ptrace(16, pid, 0, 0)),
        "seize": lambda: called(libc.ptrace(0x4206, pid, 0, 0)),
        "read memory": lambda: read_memory(pid),
        "memory file": lambda: open(f"/proc/{pid}/mem", "rb"),
        "environment": lambda: open(f"/proc/{pid}/environ", "rb").read(),
        "command line": lambda: open(f"/proc/{pid}/cmdline", "rb").read(),
        "descriptors": lambda: os.listdir(f"/proc/{pid}/fd"),
        "list": lambda: [name for name in os.listdir("/proc") if name.isdigit()],
        "slow down": lambda: os.setpriority(os.PRIO_PROCESS, pid, 19) or True,
        "limit": lambda: resource.prlimit(pid, resource.RLIMIT_CPU, (0, 0)),
        "move its group": lambda: os.setpgid(pid, os.getpgid(0)) or True,
        "fork": forked,
        "forkpty": pty.fork,
        "run": lambda: subprocess.run(["true"], check=False),
        "shell": lambda: os.system("true") == 0 or None,
        "popen": lambda: os.popen("echo x").read(),
        "exec": lambda: os.execv(sys.executable, [sys.executable, "-c", ""]),
        "exec a descriptor": lambda: os.execve(os.open(sys.executable, os.O_RDONLY), ["x"], {}),
        "spawn": lambda: os.posix_spawn(sys.executable, [sys.executable, "-c", ""], {}),
        "multiprocessing": child,
        "vfork": lambda: called(libc.syscall(58)) if os.uname().machine == "x86_64" else None,
    }


async def main(input):
    found = ways(input["pid"])
    worked = []
    for name, way in found.items():
        try:
            result = way()
        except Exception:
            continue
        if result:
            worked.append(name)
    return {"tried": len(found), "worked": worked}
