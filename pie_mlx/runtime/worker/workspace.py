"""The directories of programs."""

import os
import shutil
from pathlib import Path

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyz0123456789._-")


def scratch_directory(root: Path, username: str, program: str) -> Path:
    """The lasting directory of a user's program, all versions alike; made if it is not there. Raises OSError."""
    directory = root / encoded(username) / encoded(program)
    for level in (root, directory.parent, directory):
        level.mkdir(mode=0o700, parents=level is root, exist_ok=True)
    return directory


def remove_directory(directory: str) -> None:
    """With all that is in it, as far as that can be done; an empty one also where no more files can be opened."""
    try:
        os.rmdir(directory)
    except OSError:
        shutil.rmtree(directory, ignore_errors=True)


def encoded(name: str) -> str:
    """A file name that no other name shares, also where the file system ignores case."""
    text = "".join(c if c in _PLAIN else "".join(f"%{byte:02x}" for byte in c.encode()) for c in name)
    return f"%2e{text[1:]}" if text.startswith(".") else text


def size_bytes(directory: Path) -> int:
    """Bytes on disk of everything below `directory`; what vanishes meanwhile counts nothing."""
    total, waiting = 0, [os.fspath(directory)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
                    else:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
        except OSError:
            continue
    return total
