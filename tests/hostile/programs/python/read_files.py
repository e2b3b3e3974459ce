"""Private files of the person who runs the engine cannot be read."""

import ctypes
import fileinput
import importlib.machinery
import io
import linecache
import mmap
import os
import pathlib
import runpy
import shutil
import sqlite3
import tarfile
import tomllib
import zipfile

libc = ctypes.CDLL(None, use_errno=True)


def opened(path, flags=os.O_RDONLY):
    return os.read(os.open(path, flags), 100)


def through_link(path, link):
    link(path, "link")
    return open("link").read()


def by_descriptor(path):
    folder = os.open(os.path.dirname(path), getattr(os, "O_PATH", os.O_RDONLY))
    return os.read(os.open(os.path.basename(path), os.O_RDONLY, dir_fd=folder), 100)


def by_libc(path):
    stream = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)(("fopen", libc))(path.encode(), b"r")
    return None if stream is None else "fopen"


def by_system_call(path):
    """openat2, whose number is the same on every machine."""
    how = (ctypes.c_uint64 * 3)()
    file = libc.syscall(437, -100, path.encode(), ctypes.byref(how), 24)
    return None if file < 0 else os.read(file, 100)


def by_handle(path):
    handle = ctypes.create_string_buffer(128)
    ctypes.c_uint32.from_buffer(handle).value = 100
    mount = ctypes.c_int()
    if libc.name_to_handle_at(-100, path.encode(), handle, ctypes.byref(mount), 0) < 0:
        return None
    file = libc.open_by_handle_at(os.open("/", os.O_RDONLY), handle, os.O_RDONLY)
    return None if file < 0 else os.read(file, 100)


def by_process(path, place):
    return open(f"{place}{path}").read()


def climbing(path):
    return open("../" * 20 + path.lstrip("/")).read()


def mapped(path):
    with open(path, "r+b") as file:
        return mmap.mmap(file.fileno(), 0)[:]


def linked(path):
    return ctypes.CDLL(path)


WAYS = {
    "open": lambda path: open(path).read(),
    "open for writing": lambda path: open(path, "r+").read(),
    "os.open": opened,
    "O_PATH": lambda path: os.open(path, os.O_PATH) and open(f"/proc/self/fd/{os.open(path, os.O_PATH)}").read(),
    "O_NOATIME": lambda path: opened(path, os.O_NOATIME),
    "O_DIRECT": lambda path: opened(path, os.O_DIRECT),
    "io.open_code": lambda path: io.open_code(path).read(),
    "pathlib": lambda path: pathlib.Path(path).read_bytes(),
    "linecache": lambda path: linecache.getline(path, 1),
    "fileinput": lambda path: next(fileinput.input(path)),
    "mmap": mapped,
    "shutil.copy": lambda path: shutil.copy(path, "copy") and open("copy").read(),
    "shutil.move": lambda path: shutil.move(path, "moved") and open("moved").read(),
    "os.rename": lambda path: through_link(path, os.rename),
    "symbolic link": lambda path: through_link(path, os.symlink),
    "hard link": lambda path: through_link(path, os.link),
    "directory descriptor": by_descriptor,
    "changed directory": lambda path: os.chdir(os.path.dirname(path)) or open(os.path.basename(path)).read(),
    "relative path": climbing,
    "fopen": by_libc,
    "openat2": by_system_call,
    "file handle": by_handle,
    "root of this process": lambda path: by_process(path, "/proc/self/root"),
    "root of the engine": lambda path: by_process(path, f"/proc/{os.getppid()}/root"),
    "root of the first process": lambda path: by_process(path, "/proc/1/root"),
    "dynamic linker": linked,
    "importlib": lambda path: importlib.machinery.SourceFileLoader("key", path).get_data(path),
    "runpy": runpy.run_path,
    "sqlite": lambda path: sqlite3.connect(path).execute("select 1").fetchall() and None,
    "sqlite, attached": lambda path: sqlite3.connect(":memory:").execute(f"attach '{path}' as k").fetchall() or None,
    "zipfile": zipfile.ZipFile,
    "tarfile": tarfile.open,
    "tomllib": lambda path: tomllib.load(open(path, "rb")),
    "list": lambda path: os.listdir(os.path.dirname(path)),
    "scan": lambda path: [one.name for one in os.scandir(os.path.dirname(path))],
    "glob": lambda path: list(pathlib.Path(os.path.dirname(path)).glob("*")) or None,
    "environment of the engine": lambda path: open(f"/proc/{os.getppid()}/environ").read(),
    "memory of the engine": lambda path: open(f"/proc/{os.getppid()}/mem", "rb").read(1),
}


async def main(input):
    worked = []
    for name, way in WAYS.items():
        try:
            found = way(input["path"])
        except Exception:
            continue
        if found:
            worked.append(name)
    return {"tried": len(WAYS), "worked": worked}
