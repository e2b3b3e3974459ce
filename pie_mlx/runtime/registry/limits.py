"""How much a registry takes on."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pie_mlx.errors import ProcessError
from pie_mlx.runtime.registry.kept_events import KeptLimits


@dataclass(frozen=True, slots=True)
class RegistryLimits:
    """`concurrent` processes run at once (None: no limit), the others are queued.

    `input_characters` are those of all processes of a user that are on record.
    `finished_grace_seconds` is how long a finished process can still be attached, `detached_seconds` how long one may
    wait for a client that is away before it is ended (None: for ever). A program that does not receive what
    it is sent has at most `messages` of `message_characters`, `files` and `file_bytes` waiting, all of a user
    `user_file_bytes`. `kept` is of one process; beyond
    `kept_total_bytes` of all of them the finished ones lose what is kept, and beyond `kept_user_bytes` of a user's
    each its own oldest.
    """

    concurrent: int | None = None
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
        """Raises ProcessError where no further file of that size can wait beside those of a program."""
        if len(sizes) >= self.files or sum(sizes) + size_bytes > self.file_bytes:
            raise ProcessError(
                f"file refused: {len(sizes)} files of {sum(sizes)} bytes wait for the program",
                hint=f"at most {self.files} files or {self.file_bytes >> 20} MiB may wait",
            )

    def check_user_files(self, total_bytes: int, size_bytes: int) -> None:
        """The same for those of all programs of a user."""
        if total_bytes + size_bytes > self.user_file_bytes:
            raise ProcessError(
                f"file refused: {total_bytes} bytes of files wait for the user's programs",
                hint=f"at most {self.user_file_bytes >> 20} MiB may wait",
            )
