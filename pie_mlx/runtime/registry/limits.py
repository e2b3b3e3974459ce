"""Limits of a registry."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field

from pie_mlx.errors import ProcessError
from pie_mlx.runtime.registry.kept_events import KeptLimits
from pie_mlx.runtime.worker.starting import ALONE

STARTING = 2 * ALONE * (os.cpu_count() or 1)
"""Enough for one always to wait for its worker, of a user who is alone."""


@dataclass(frozen=True, slots=True)
class RegistryLimits:
    """`concurrent` processes run at once (None: no limit), and `starting` of a user start; further ones are queued.

    `per_user` and `input_characters` bound the processes of a user and their inputs. A finished process can be attached
    for `finished_grace_seconds`; a process that waits for a detached client ends after `detached_seconds` (None:
    never). Unreceived messages are bounded by `messages` and `message_characters` per process, unreceived files by
    `files` and `file_bytes` per process and `user_file_bytes` per user. Kept events are bounded by `kept` per process,
    `kept_total_bytes` in all and `kept_user_bytes` per user.
    """

    concurrent: int | None = None
    starting: int = STARTING
    per_user: int = 4096
    input_characters: int = 256 << 20
    finished_grace_seconds: float = 300.0
    detached_seconds: float | None = None
    messages: int = 1024
    message_characters: int = 64 << 20
    files: int = 16
    file_bytes: int = 256 << 20
    user_file_bytes: int = 1 << 30
    kept_total_bytes: int = 256 << 20
    kept_user_bytes: int = 512 << 20
    kept: KeptLimits = field(default_factory=KeptLimits)

    def check_files(self, sizes: Sequence[int], size_bytes: int) -> None:
        """Raises ProcessError if a program has no room for another waiting file of that size."""
        if len(sizes) >= self.files or sum(sizes) + size_bytes > self.file_bytes:
            raise ProcessError(
                f"file refused: {len(sizes)} files with {sum(sizes)} bytes wait for the program",
                hint=f"at most {self.files} files or {self.file_bytes >> 20} MiB may wait",
            )

    def check_user_files(self, total_bytes: int, size_bytes: int) -> None:
        """Raises ProcessError if a user has no room for another waiting file of that size."""
        if total_bytes + size_bytes > self.user_file_bytes:
            raise ProcessError(
                f"file refused: {total_bytes} bytes of files wait for the user's programs",
                hint=f"at most {self.user_file_bytes >> 20} MiB may wait",
            )
