"""Standard output of a worker."""

import io
import os
import sys

from pie_mlx.runtime.execution.output_capture import StreamName, Write
from pie_mlx.wire_text import clean_text


class LinkStream(io.TextIOBase):
    """A standard stream that sends text over the link, in order with the program's calls.

    Its `buffer`, its file descriptor and the output of forked processes go through a pipe instead, which the engine
    also reads, but unordered with the rest.
    """

    def __init__(self, name: StreamName, write: Write) -> None:
        self._name: StreamName = name
        self._fd = 1 if name == "stdout" else 2
        self._send = write
        self._owner = os.getpid()
        self.buffer = open(self._fd, "wb", buffering=0, closefd=False)  # noqa: SIM115 - lives as long as the process

    @property
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return "utf-8"

    @property
    def errors(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return "replace"

    def write(self, s: str, /) -> int:
        if os.getpid() == self._owner:
            self._send(self._name, clean_text(s))
        else:
            self.buffer.write(s.encode("utf-8", "replace"))
        return len(s)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return False

    def fileno(self) -> int:
        return self._fd


def use_streams(write: Write) -> None:
    """Send everything the program prints to `write`."""
    sys.stdout = LinkStream("stdout", write)
    sys.stderr = LinkStream("stderr", write)
