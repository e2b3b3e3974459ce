"""The directories of programs."""

from pathlib import Path

from pie_mlx.files import make_own
from pie_mlx.runtime.file_tree import Quota

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")
_BYTES_PER_ENTRY = 16 << 10
"""What file systems usually reserve an inode for."""
_LEAST_ENTRIES = 4096


def scratch_quota(limit_bytes: int) -> Quota:
    """What a program's files may take: so many bytes, and in proportion so many files and directories."""
    return Quota(limit_bytes, max(_LEAST_ENTRIES, limit_bytes // _BYTES_PER_ENTRY))


def scratch_directory(root: Path, username: str, program: str) -> Path:
    """The lasting directory of a program (`Program.name_for`) for a user, all versions alike; made if it is not there.

    Raises OSError, also where others made it or can write in it.
    """
    directory = root / encoded(username) / encoded(program)
    make_own(directory.parent)
    make_own(directory)
    return directory


def encoded(name: str) -> str:
    """A file name that no other name shares, also where the file system ignores case."""
    text = "".join(c if c in _PLAIN else "".join(f"%{byte:02x}" for byte in c.encode()) for c in name)
    return f"%2e{text[1:]}" if text.startswith(".") else text
