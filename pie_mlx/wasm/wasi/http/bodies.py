"""Bodies of `wasi:http/types`."""

import asyncio
from collections.abc import Callable

from pie_mlx.wasm.binding.writers import Ok, WitError
from pie_mlx.wasm.waiting import Eventually
from pie_mlx.wasm.wasi.http.fields import Fields
from pie_mlx.wasm.wasi.poll import Pollable
from pie_mlx.wasm.wasi.streams import CHUNK_BYTES, InputStream, OutputStream, at_once

More = Callable[[], bytes]
"""Blocks for the next piece of a body; b"" at its end. Raises OSError."""
Sink = Callable[[bytes, bool], None]
"""Takes a piece of a body, and whether it is the last."""


class FutureTrailers:
    """The trailers of a body: there are none here."""

    def subscribe(self) -> Pollable:
        return Pollable(at_once)

    def get(self) -> Ok:
        return Ok(None)


class IncomingBody:
    """A body that arrives in pieces, which are read ahead by one."""

    def __init__(self, more: More) -> None:
        self._more = more
        self._piece: bytes | None = b""
        self._arriving: Eventually[bytes] | None = None
        self._given = False

    def stream(self) -> InputStream:
        if self._given:
            raise WitError(None)
        self._given = True
        return InputStream(self._read, self._pending)

    @classmethod
    def finish(cls, body: "IncomingBody") -> FutureTrailers:
        return FutureTrailers()

    def _pending(self) -> "asyncio.Future[bytes] | None":
        if self._piece is None or self._piece:
            return None
        if self._arriving is None:
            self._arriving = Eventually(lambda: asyncio.to_thread(self._more))
        return self._arriving.pending()

    def _read(self, length: int) -> bytes | None:
        if self._pending() is None and self._arriving is not None:
            arriving, self._arriving = self._arriving, None
            self._piece = arriving.finished() or None
        if self._piece is None:
            return None
        data, self._piece = self._piece[:length], self._piece[length:]
        return data


class OutgoingBody:
    """A body that the component writes. What it writes waits until a sink takes it."""

    def __init__(self) -> None:
        self._sink: Sink | None = None
        self._waiting = bytearray()
        self._given = self._finished = False

    def write(self) -> OutputStream:
        if self._given:
            raise WitError(None)
        self._given = True
        return OutputStream(self._take)

    @classmethod
    def finish(cls, body: "OutgoingBody", trailers: Fields | None) -> None:
        body._finished = True
        body._deliver()

    def _take(self, data: bytes) -> None:
        self._waiting += data
        self._deliver()

    def _deliver(self) -> None:
        if self._sink is not None and (self._waiting or self._finished):
            data, self._waiting = bytes(self._waiting), bytearray()
            self._sink(data, self._finished)


def send_to(body: OutgoingBody, sink: Sink) -> None:
    """Send what is written from now on, and was before, to `sink`."""
    body._sink = sink  # pyright: ignore[reportPrivateUsage]
    body._deliver()  # pyright: ignore[reportPrivateUsage]


def whole(data: bytes) -> IncomingBody:
    """A body that has arrived."""
    pieces = [data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES)]
    return IncomingBody(lambda: pieces.pop(0) if pieces else b"")
