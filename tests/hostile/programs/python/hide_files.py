"""Files can be kept where nothing that counts them finds them."""

import asyncio
import ctypes
import mmap
import os
import posix  # knows no /scratch, and asks nobody for room
import socket

PIECE = bytes(1 << 20)
HELD = []


def put(name, pieces=1):
    file = posix.open(name, os.O_RDWR | os.O_CREAT)
    for _ in range(pieces):
        posix.write(file, PIECE)
    return file


def in_closed_directories():
    for number in range(4):
        posix.mkdir(f"d{number}", 0o300)
        posix.close(put(f"d{number}/f"))


def behind_long_paths():
    for _ in range(30):
        posix.mkdir("n" * 200)
        posix.chdir("n" * 200)
    for number in range(4):
        posix.close(put(f"f{number}"))


def deep_down():
    for _ in range(1200):
        posix.mkdir("d")
        posix.chdir("d")
    for number in range(4):
        posix.close(put(f"f{number}"))


def deleted_and_open():
    for _ in range(4):
        HELD.append(put("f"))
        posix.unlink("f")


def deleted_and_mapped():
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    file = put("f")
    libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_SHARED, file, 0)
    posix.unlink("f")
    posix.close(file)


def deleted_and_on_the_way():
    HELD.append(socket.socketpair())
    file = put("f")
    socket.send_fds(HELD[0][0], [b"x"], [file])
    posix.unlink("f")
    posix.close(file)


def as_many_empty_ones():
    for number in range(8000):
        posix.close(posix.open(f"f{number}", os.O_WRONLY | os.O_CREAT))


WAYS = (
    in_closed_directories,
    behind_long_paths,
    deep_down,
    deleted_and_open,
    deleted_and_mapped,
    deleted_and_on_the_way,
    as_many_empty_ones,
)


async def main(input):
    next(way for way in WAYS if way.__name__ == input["way"])()
    await asyncio.sleep(30)
    return "kept"
