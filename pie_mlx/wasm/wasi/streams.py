"""`wasi:io/streams`: bytes in and out of files, requests and the program's output."""

from collections.abc import Callable
from typing import TypeVar

from pie_mlx.wasm.binding.writers import WitError
from pie_mlx.wasm.offers import Interface
from pie_mlx.wasm.waiting import Pending, wait_for_any
from pie_mlx.wasm.wasi.poll import Error, Pollable

T = TypeVar("T")

CHUNK_BYTES = 1 << 16
"""The most that one call moves."""

Read = Callable[[int], bytes | None]
"""Up to so many bytes, b"" if there are none now, None at the end. Raises OSError."""
Write = Callable[[bytes], None]
"""All of the bytes. Raises OSError."""


def at_once() -> None:
    """The pending future of what is always ready."""


class InputStream:
    """Bytes that come in from `read`; `pending` is what to wait for when there are none."""

    def __init__(self, read: Read, pending: Pending = at_once) -> None:
        self._read = read
        self._pending = pending

    def read(self, length: int) -> bytes:
        found = _attempt(lambda: self._read(min(length, CHUNK_BYTES)))
        if found is None:
            raise WitError("closed")
        return found

    def blocking_read(self, length: int) -> bytes:
        wait_for_any([self._pending])
        return self.read(length)

    def skip(self, length: int) -> int:
        return len(self.read(length))

    def blocking_skip(self, length: int) -> int:
        return len(self.blocking_read(length))

    def subscribe(self) -> Pollable:
        return Pollable(self._pending)


class OutputStream:
    """Bytes that go out through `write`, which waits where it must."""

    def __init__(self, write: Write, flush: Callable[[], None] = at_once) -> None:
        self._write = write
        self._flush = flush

    def check_write(self) -> int:
        return CHUNK_BYTES

    def write(self, contents: bytes) -> None:
        _attempt(lambda: self._write(contents))

    def blocking_write_and_flush(self, contents: bytes) -> None:
        self.write(contents)
        self.flush()

    def flush(self) -> None:
        _attempt(self._flush)

    def blocking_flush(self) -> None:
        self.flush()

    def subscribe(self) -> Pollable:
        return Pollable(at_once)

    def write_zeroes(self, length: int) -> None:
        self.write(bytes(min(length, CHUNK_BYTES)))

    def blocking_write_zeroes_and_flush(self, length: int) -> None:
        self.write_zeroes(length)
        self.flush()

    def splice(self, source: InputStream, length: int) -> int:
        data = source.read(length)
        self.write(data)
        return len(data)

    def blocking_splice(self, source: InputStream, length: int) -> int:
        data = source.blocking_read(length)
        self.write(data)
        return len(data)


def _attempt(move: Callable[[], T]) -> T:
    try:
        return move()
    except OSError as error:
        raise WitError(("last-operation-failed", Error(str(error), error.errno))) from error


INTERFACES = (Interface("wasi:io/streams", (), (InputStream, OutputStream)),)
