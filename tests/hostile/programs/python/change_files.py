"""Nothing outside of a program's own directory can be made, changed or removed."""

import ctypes
import os
import pathlib
import shutil
import socket
import sqlite3
import tempfile

libc = ctypes.CDLL(None, use_errno=True)


def called(result):
    return result == 0 or None


def bound(folder):
    socket.socket(socket.AF_UNIX).bind(f"{folder}/socket")
    return True


WAYS = {
    "open": lambda folder: open(f"{folder}/kept", "w").write("x"),
    "append": lambda folder: open(f"{folder}/kept", "a").write("x"),
    "make": lambda folder: open(f"{folder}/new", "x").write("x"),
    "os.open": lambda folder: os.write(os.open(f"{folder}/kept", os.O_WRONLY), b"x"),
    "unnamed": lambda folder: os.write(os.open(folder, os.O_WRONLY | os.O_TMPFILE), b"x"),
    "touch": lambda folder: pathlib.Path(folder, "new").touch() or True,
    "truncate": lambda folder: os.truncate(f"{folder}/kept", 0) or True,
    "remove": lambda folder: os.remove(f"{folder}/kept") or True,
    "remove folder": lambda folder: os.rmdir(f"{folder}/empty") or True,
    "remove tree": lambda folder: shutil.rmtree(folder) or True,
    "make folder": lambda folder: os.mkdir(f"{folder}/new") or True,
    "rename": lambda folder: os.rename(f"{folder}/kept", f"{folder}/new") or True,
    "rename out": lambda folder: os.rename(f"{folder}/kept", "taken") or True,
    "rename in": lambda folder: open("mine", "w").close() or os.rename("mine", f"{folder}/new") or True,
    "exchange": lambda folder: called(libc.renameat2(-100, b"mine", -100, f"{folder}/kept".encode(), 2)),
    "symbolic link": lambda folder: os.symlink("/etc/passwd", f"{folder}/new") or True,
    "hard link in": lambda folder: open("mine", "w").close() or os.link("mine", f"{folder}/new") or True,
    "pipe": lambda folder: os.mkfifo(f"{folder}/new") or True,
    "device": lambda folder: os.mknod(f"{folder}/new") or True,
    "socket": bound,
    "mode": lambda folder: os.chmod(f"{folder}/kept", 0o777) or True,
    "mode of folder": lambda folder: os.chmod(folder, 0o777) or True,
    "owner": lambda folder: os.chown(f"{folder}/kept", 12345, 12345) or True,
    "owner of link": lambda folder: os.lchown(f"{folder}/kept", 12345, 12345) or True,
    "times": lambda folder: os.utime(f"{folder}/kept", (0, 0)) or True,
    "attribute": lambda folder: os.setxattr(f"{folder}/kept", "user.x", b"x") or True,
    "database": lambda folder: sqlite3.connect(f"{folder}/new.db").execute("create table t (x)") and True,
    "temporary": lambda folder: tempfile.mkstemp(dir=folder),
    "own code": lambda folder: open(__file__, "a").write("x"),
    "interpreter": lambda folder: open(os.__file__, "a").write("x"),
    "system": lambda folder: open("/etc/pie-hostile", "w").write("x"),
    "shared memory": lambda folder: open("/dev/shm/pie-hostile", "w").write("x"),
    "core pattern": lambda folder: open("/proc/sys/kernel/core_pattern", "w").write("x"),
    "engine's out-of-memory score": lambda folder: open(f"/proc/{os.getppid()}/oom_score_adj", "w").write("1000"),
}


async def main(input):
    worked = []
    for name, way in WAYS.items():
        try:
            found = way(input["folder"])
        except Exception:
            continue
        if found:
            worked.append(name)
    return {"tried": len(WAYS), "worked": worked}
