"""A program reaches no process, queue, watch or signal but its own."""

import ctypes
import errno
import fcntl
import os
import socket

libc = ctypes.CDLL(None, use_errno=True)


def call(name, *arguments):
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def on_file(command, argument):
    with open("file", "w") as file:
        fcntl.fcntl(file, command, argument)


ATTEMPTS = {
    "processor": lambda: os.sched_setaffinity(0, {0}),
    "scheduler": lambda: os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0)),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, 5),
    "shared memory": lambda: call("shmget", 0, 4096, 0o1600),
    "queue": lambda: call("msgget", 0, 0o1600),
    "semaphore": lambda: call("semget", 0, 1, 0o1600),
    "watch": lambda: call("inotify_init1", 0),
    "watch of all": lambda: call("fanotify_init", 0, 0),
    "lease": lambda: on_file(fcntl.F_SETLEASE, fcntl.F_WRLCK),
    "owner": lambda: on_file(fcntl.F_SETOWN, 1),
    "signal": lambda: on_file(fcntl.F_SETSIG, 9),
    "notice": lambda: on_file(fcntl.F_NOTIFY, 1),
    "datagrams": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM),
    "packets": lambda: socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET),
    "descriptor of a process": lambda: os.pidfd_open(os.getpid()),
    "parent's end": lambda: call("prctl", 1, 0, 0, 0, 0),
    "keyring": lambda: call("syscall", ctypes.c_long(250), 0, 0, 0),
    "filter": lambda: socket.socketpair()[0].setsockopt(socket.SOL_SOCKET, 26, bytes(16)),
    "limits of others": lambda: call("prlimit", os.getppid(), 7, None, None),
    "network": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
}


async def main(input):
    """What was not refused as forbidden."""
    found = []
    for name, attempt in ATTEMPTS.items():
        try:
            attempt()
            found.append(name)
        except OSError as error:
            if error.errno not in (errno.EPERM, errno.EACCES):
                found.append(f"{name}: {error}")
    return found
