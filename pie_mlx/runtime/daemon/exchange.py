"""One HTTP request and its answer, between the loop that serves it and the process that answers."""

import asyncio
import contextlib
import re
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from functools import partial
from typing import NamedTuple

from pie_mlx.calls import HttpRequest
from pie_mlx.errors import InvalidArgumentError, SessionClosedError


class WakeupBatcher:
    """Carries calls from other loops to `loop`, many per wake-up. `post` may be called on any loop.

    Waking a thread takes the interpreter from the waking one. So the wake-up waits until the sender's loop has run its
    ready callbacks, and one serves all streams of a batch.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._acts: deque[Callable[[], None]] = deque()
        self._waking = False

    def post(self, act: Callable[[], None]) -> None:
        """Call `act` on the loop, after everything posted before."""
        self._acts.append(act)
        if not self._waking:
            self._waking = True
            asyncio.get_running_loop().call_soon(self._wake)

    def empty(self) -> None:
        """Run what was posted. On the loop only."""
        self._waking = False  # before the queue is emptied: a later post must wake the loop again
        while self._acts:
            self._acts.popleft()()

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has closed
            self._loop.call_soon_threadsafe(self.empty)


WINDOW_BYTES = 256 << 10
"""Unread bytes beyond which the program waits for a slow client."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Head(NamedTuple):
    """Status and headers of an answer."""

    status: int
    headers: list[tuple[str, str]]


class HttpExchange:
    """An `HttpPort` on the answering loop; all other methods, and `batcher`, belong to the loop that made it.

    `asked_seconds`: when the request had arrived, on the monotonic clock.
    """

    def __init__(
        self, request: HttpRequest, batcher: WakeupBatcher | None = None, *, asked_seconds: float = 0.0
    ) -> None:
        self.asked_seconds = asked_seconds
        self.status = 0
        self._request = request
        self._batcher = batcher or WakeupBatcher(asyncio.get_running_loop())
        self._head: asyncio.Future[Head] = asyncio.get_running_loop().create_future()
        self._begun = self._ended = False
        self._pieces: deque[bytes] = deque()
        self._news = asyncio.Event()
        self._over = False
        self._error: Exception | None = None
        self._lock = threading.Lock()
        self._unread_bytes = 0
        self._waiting: list[asyncio.Future[None]] = []
        self._gone = False

    # Called by the process.

    @property
    def request(self) -> HttpRequest:
        return self._request

    def begin(self, status: int, headers: Sequence[tuple[str, str]]) -> None:
        """Raises InvalidArgumentError for a second answer, or one that is not valid HTTP."""
        if self._begun:
            raise InvalidArgumentError("http: the answer has begun already", hint="answer a request once")
        head = Head(_checked_status(status), [_checked_header(name, value) for name, value in headers])
        self._begun, self.status = True, status
        self._batcher.post(partial(self._announce, head))

    async def write(self, data: bytes, *, last: bool = False) -> None:
        """Raises InvalidArgumentError before `begin` and after the `last`, SessionClosedError without a client."""
        if not self._begun or self._ended:
            raise InvalidArgumentError(
                f"http: the answer has {'ended' if self._ended else 'not begun'}",
                hint="send status and headers first, then the body, and nothing after its last piece",
            )
        room = self._take_room(len(data))
        self._ended = last
        self._batcher.post(partial(self._put, data, last=last))
        if room is not None:
            await room
            self._check_there()

    # Called by the server, on its own loop.

    @property
    def is_whole(self) -> bool:
        """Whether the whole answer has been read."""
        return self._over and self._error is None and not self._pieces

    @property
    def is_gone(self) -> bool:
        """Whether the client hung up."""
        return self._gone

    async def head(self) -> Head:
        """Wait for the head. Raises the error of a process that ended without an answer."""
        return await asyncio.shield(self._head)

    async def body(self) -> AsyncIterator[bytes]:
        """New bytes, joined, until the answer is complete or the process has ended. Raises the process's error."""
        while True:
            if self._pieces:
                data = b"".join(self._pieces)
                self._pieces.clear()
                yield data
                self._make_room(len(data))
            elif self._error is not None:
                raise self._error
            elif self._over:
                return
            else:
                self._news.clear()
                await self._news.wait()

    def end(self, error: Exception | None = None) -> None:
        """The process has ended, with or without an error. An error after a complete answer is ignored."""
        self._batcher.empty()
        if not self._over:
            self._over, self._error = True, error
        if not self._head.done():
            self._head.set_exception(error or _unanswered())
            self._head.exception()  # marks it as retrieved: nothing may be waiting
        self._news.set()

    def hang_up(self) -> None:
        """The client is gone: further writes fail."""
        with self._lock:
            self._gone = True
        self._make_room(0)

    def _announce(self, head: Head) -> None:
        if not self._head.done():
            self._head.set_result(head)

    def _put(self, data: bytes, *, last: bool) -> None:
        if data:
            self._pieces.append(data)
        self._over = last
        self._news.set()

    def _take_room(self, size_bytes: int) -> "asyncio.Future[None] | None":
        """Count bytes; returns a future to wait for, or None while the window has room."""
        with self._lock:
            self._check_there()
            self._unread_bytes += size_bytes
            if self._unread_bytes <= WINDOW_BYTES:
                return None
            room = asyncio.get_running_loop().create_future()
            self._waiting.append(room)
            return room

    def _make_room(self, size_bytes: int) -> None:
        with self._lock:
            self._unread_bytes -= size_bytes
            if self._unread_bytes > WINDOW_BYTES and not self._gone:
                return
            waiting, self._waiting = self._waiting, []
        for room in waiting:
            room.get_loop().call_soon_threadsafe(_resolve, room)

    def _check_there(self) -> None:
        if self._gone:
            raise SessionClosedError("http: the client is gone", hint="stop writing the answer")


def _unanswered() -> InvalidArgumentError:
    return InvalidArgumentError("http: the program sent no answer", hint="return an answer from 'handle'")


def _resolve(room: "asyncio.Future[None]") -> None:
    if not room.done():
        room.set_result(None)


def _checked_status(status: int) -> int:
    if not 200 <= status <= 599:
        raise InvalidArgumentError(f"http: {status} is not a valid status", hint="use 200 to 599")
    return status


def _checked_header(name: str, value: str) -> tuple[str, str]:
    if not _NAME.fullmatch(name) or not value.isprintable() or not value.isascii():
        raise InvalidArgumentError(f"http: {name!r}: {value!r} is not a valid header", hint="use printable ASCII only")
    return name.lower(), value
