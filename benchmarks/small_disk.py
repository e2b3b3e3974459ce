"""A file system that is soon full."""

import contextlib
import errno
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SIZE_MIB = 32


@dataclass
class SmallDisk:
    """A directory; `is_mounted` where the system let it be a disk of its own, else it is as large as any other."""

    directory: Path
    is_mounted: bool

    @property
    def is_full(self) -> bool:
        return self._ballast.exists()

    @property
    def _ballast(self) -> Path:
        return self.directory / "ballast"

    def fill(self) -> None:
        """Leave no byte; nothing where it is not mounted."""
        if not self.is_mounted:
            return
        with self._ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise

    def empty(self) -> None:
        self._ballast.unlink(missing_ok=True)


@contextlib.contextmanager
def small_disk(directory: Path) -> Iterator[SmallDisk]:
    """A tmpfs at `directory`, where this process may mount one."""
    directory.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MIB}m,mode=0700", "tmpfs", str(directory)]
    can_mount = shutil.which("mount") is not None
    is_mounted = can_mount and subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield SmallDisk(directory, is_mounted)
    finally:
        if is_mounted:
            subprocess.run(["umount", "--lazy", str(directory)], check=True)
