"""Measures deleted files that a process still holds: they take space in no directory."""

import contextlib
import ctypes
import os
import stat
import struct
import sys
from collections.abc import Iterator

from pie_mlx.runtime.file_tree import BLOCK_BYTES, Usage

VNODE_INFO = struct.Struct("=IHHQ72xqq48x")
"""The used part of macOS's vnode_info: device, mode, links, inode, size, blocks."""


def deleted_vnode(info: bytes, device: int) -> dict[int, int]:
    """Inode and bytes on disk from a vnode_info; empty unless it is a deleted file of that device."""
    found_device, mode, links, inode, _, blocks = VNODE_INFO.unpack(info)
    if (found_device, links) != (device, 0) or not stat.S_ISREG(mode):
        return {}
    return {inode: blocks * BLOCK_BYTES}


def _device(directory: str) -> int:
    """Device of a directory, from its parent: a program may remove its own."""
    return os.stat(os.path.dirname(directory)).st_dev


if sys.platform == "darwin":
    _libproc = ctypes.CDLL("/usr/lib/libproc.dylib")
    _LIST_FDS, _REGION, _VNODE_OF_FD, _IS_VNODE = 1, 8, 1, 1
    _FD = struct.Struct("=iI")
    _FDS_LIMIT = 10_240
    _FD_BYTES, _REGION_BYTES, _PATH_BYTES = 24, 96, 1024
    """Bytes around the vnode in the data about a descriptor and a mapped region."""

    def deleted_files(pid: int, directory: str, own_socket: int = 0) -> Usage:
        """Usage on the file system of a directory; zero for an ended process."""
        del own_socket  # what is in flight is not looked at
        found: dict[int, int] = {}
        device = _device(directory)
        for info in (*_open_vnodes(pid), *_mapped_vnodes(pid)):
            found |= deleted_vnode(info, device)
        return Usage(sum(found.values()), len(found))

    def _open_vnodes(pid: int) -> Iterator[bytes]:
        listed = ctypes.create_string_buffer(_FDS_LIMIT * _FD.size)
        size = max(0, _libproc.proc_pidinfo(pid, _LIST_FDS, ctypes.c_uint64(0), listed, len(listed)))
        info = ctypes.create_string_buffer(_FD_BYTES + VNODE_INFO.size)
        for fd, kind in _FD.iter_unpack(listed.raw[: size - size % _FD.size]):
            if kind == _IS_VNODE and _libproc.proc_pidfdinfo(pid, fd, _VNODE_OF_FD, info, len(info)) == len(info):
                yield info.raw[_FD_BYTES:]

    def _mapped_vnodes(pid: int) -> Iterator[bytes]:
        info = ctypes.create_string_buffer(_REGION_BYTES + VNODE_INFO.size + _PATH_BYTES)
        start, size = 0, 1
        while size and _libproc.proc_pidinfo(pid, _REGION, ctypes.c_uint64(start + size), info, len(info)) > 0:
            yield info.raw[_REGION_BYTES : _REGION_BYTES + VNODE_INFO.size]
            start, size = struct.unpack_from("=QQ", info, _REGION_BYTES - 16)

else:

    def deleted_files(pid: int, directory: str, own_socket: int = 0) -> Usage:
        """Usage on the file system of a directory; zero for an ended process.

        Hidden: files that are only mapped, files in flight through a socket but that of inode `own_socket`, and all
        files of a process that denies its owner access.
        """
        found: dict[int, int] = {}
        device, hidden = _device(directory), False
        with contextlib.suppress(OSError):
            hidden = os.stat(f"/proc/{pid}/fd").st_uid != os.stat("/proc/self/fd").st_uid
            for name in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):  # it may have been closed
                    status = os.stat(f"/proc/{pid}/fd/{name}")
                    if stat.S_ISSOCK(status.st_mode):
                        hidden = hidden or (status.st_ino != own_socket and _carries_files(pid, name))
                    elif stat.S_ISREG(status.st_mode) and (status.st_nlink, status.st_dev) == (0, device):
                        found[status.st_ino] = status.st_blocks * BLOCK_BYTES
            hidden = hidden or not _deleted_mappings(pid, directory) <= found.keys()
        return Usage(sum(found.values()), len(found), hidden)

    def _carries_files(pid: int, socket: str) -> bool:
        """Whether a socket holds descriptors not yet received. Raises OSError."""
        with open(f"/proc/{pid}/fdinfo/{socket}", "rb") as file:
            return any(line.startswith(b"scm_fds:") and line.split()[1] != b"0" for line in file)

    def _deleted_mappings(pid: int, directory: str) -> set[int]:
        """Inodes of the deleted files of a directory that are mapped. Raises OSError."""
        below = os.fsencode(f"{directory}/")
        with open(f"/proc/{pid}/maps", "rb") as file:
            lines = [line.split(None, 5) for line in file if line.endswith(b" (deleted)\n")]
        return {int(line[4]) for line in lines if line[5].startswith(below)}
