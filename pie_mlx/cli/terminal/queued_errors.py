"""A standard error that never makes its writer wait."""

import contextlib
import io
import os
import select
import sys
import threading
from collections.abc import Callable, Generator

QUEUE_CHARACTERS = 2**20
"""What may wait to be written; more is dropped."""

_CLOSE_SECONDS = 1.0


class QueuedText(io.TextIOBase):
    """A text stream that a thread writes to `descriptor`.

    The reader of the other end may be slow, stopped or gone: a parent that never reads its pipe, a terminal after
    Ctrl-S. A writer does not wait for it. What does not fit in the queue is dropped, and a line says how much that was.
    The thread calls `after_write` each time.
    """

    def __init__(self, descriptor: int, after_write: Callable[[], None] = lambda: None) -> None:
        self._descriptor, self._after_write = descriptor, after_write
        self._changed = threading.Condition()
        self._waiting: list[str] = []
        self._size = 0
        self._dropped = 0
        self._gone = False
        self._ending = False
        self._thread = threading.Thread(target=self._write_all, name="pie-stderr", daemon=True)
        self._thread.start()

    def write(self, text: str, /) -> int:
        with self._changed:
            if self._size + len(text) > QUEUE_CHARACTERS:
                self._dropped += len(text)
            elif text:
                self._waiting.append(text)
                self._size += len(text)
            self._changed.notify()
        return len(text)

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def close(self) -> None:
        """Write what waits, for a second at most."""
        with self._changed:
            self._ending = True
            self._changed.notify()
        self._thread.join(_CLOSE_SECONDS)
        super().close()

    def _write_all(self) -> None:
        while text := self._next():
            try:
                self._put(text.encode(errors="backslashreplace"))
            except OSError:  # the reader is gone
                self._gone = True
            self._after_write()

    def _next(self) -> str:
        """What to write now; empty at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._dropped or self._ending)
            text = "".join(self._waiting)
            if self._dropped:
                text += f"\npie: {self._dropped} characters of output were dropped: nothing read standard error\n"
            self._waiting.clear()
            self._size = self._dropped = 0
            return text

    def _put(self, data: bytes) -> None:
        while data and not self._gone:
            try:
                data = data[os.write(self._descriptor, data) :]
            except BlockingIOError:  # another process that has this file made it so
                select.select([], [self._descriptor], [])


@contextlib.contextmanager
def queued_errors(after_write: Callable[[], None] = lambda: None) -> Generator[None]:
    """Everything that goes to standard error in this block is queued; `after_write` is called on another thread."""
    try:
        descriptor = sys.stderr.fileno()
    except (OSError, ValueError):  # it is no file, so it never blocks
        yield
        return
    with contextlib.closing(QueuedText(descriptor, after_write)) as text, contextlib.redirect_stderr(text):
        yield
