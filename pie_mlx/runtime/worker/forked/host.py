"""The worker's end of the link: the host that answers its program's calls."""

import asyncio
import contextlib
import itertools
import os
import select
import socket
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from weakref import WeakSet

from pie_mlx.calls import Call
from pie_mlx.errors import ProtocolError
from pie_mlx.runtime.execution.output_capture import StreamName
from pie_mlx.runtime.worker.frames.messages import (
    NO_ANSWER,
    OUTPUT_LIMIT_BYTES,
    Answer,
    CallFrame,
    CancelCall,
    ClockReading,
    Debugging,
    Ended,
    ErrorAnswer,
    Frames,
    FromEngine,
    LaunchSpec,
    Listening,
    NodeLaunch,
    NodeStart,
    Output,
    Ping,
    Pong,
    Stop,
    pack,
    reply_decoder,
)
from pie_mlx.runtime.worker.frames.reader import READ_BYTES, EngineFrames

T = TypeVar("T")

LOST_ENGINE_STATUS = 69
"""Exit status of a worker whose engine has ended."""


@dataclass(slots=True, eq=False)
class _Waiter:
    """The waiting caller: a blocked thread, or a future of a loop."""

    call: type[Call[Any]]
    future: "asyncio.Future[Any] | None" = None
    reply: Any = None
    error: Exception | None = None
    done: bool = False

    def complete(self, reply: Any, error: Exception | None) -> None:
        self.reply, self.error, self.done = reply, error, True
        if self.future is None:
            return
        loop = self.future.get_loop()
        if asyncio._get_running_loop() is loop:  # pyright: ignore[reportPrivateUsage]
            _finish(self.future, reply, error)
        elif not loop.is_closed():
            loop.call_soon_threadsafe(_finish, self.future, reply, error)


class _Reading:
    """The right to read from the socket: one thread has it at a time, and may reenter from a finalizer."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._owner: int | None = None
        self._depth = 0

    def enter(self, waiter: _Waiter) -> bool:
        """Wait for the right; False if another thread has read the reply of `waiter` in the meantime."""
        with self._changed:
            while not waiter.done and not self._acquire():
                self._changed.wait()
            return not waiter.done

    def try_enter(self) -> bool:
        with self._changed:
            return self._acquire()

    def leave(self) -> None:
        with self._changed:
            self._depth -= 1
            if self._depth == 0:
                self._owner = None
            self._changed.notify_all()

    def _acquire(self) -> bool:
        if self._owner not in (None, threading.get_ident()):
            return False
        self._owner = threading.get_ident()
        self._depth += 1
        return True


class WorkerHost:
    """A `calls.Host` over a socket, usable from any thread and any loop.

    Waiting callers read: a blocked thread reads until it has its reply and passes on other frames; a loop reads when
    the socket is readable. So a reply costs no thread switch. A blocked sender also reads, to avoid
    deadlock: the engine stops reading from a worker that does not read its answers.
    """

    def __init__(self, socket: socket.socket) -> None:
        self._on_stop: Callable[[str], None] = _ignore
        self._socket = socket
        self._socket.setblocking(False)
        self._frames = EngineFrames()
        self._numbers = itertools.count(1)
        self._waiting: dict[int, _Waiter] = {}
        self._loops: WeakSet[asyncio.AbstractEventLoop] = WeakSet()
        self._reading = _Reading()
        self._writing = threading.RLock()  # reentrant: finalizers make calls, and may run anywhere
        self._unsent: deque[bytes] = deque()
        self._sender: int | None = None

    def spec(self) -> LaunchSpec | NodeStart:
        """Block until the frame arrives that says what to become. Reads nothing beyond it, which may be for Node."""
        while True:
            frame = self._frames.next_frame()
            if isinstance(frame, LaunchSpec | NodeStart):
                return frame
            if isinstance(frame, Ping):
                self._send(Pong())
            elif frame is None:
                self._wait_for(select.POLLIN)
                self._receive(min(READ_BYTES, self._frames.missing_bytes()))

    def hand_over(self, socket_: socket.socket, frame: Listening | Debugging) -> None:
        """Pass a socket to the engine, with the frame that says what for. Raises OSError."""
        socket.send_fds(self._socket, [pack(frame)], [socket_.fileno()])

    def listen(self, on_stop: Callable[[str], None]) -> None:
        """Call `on_stop` when the program is cancelled, also if that has already been received."""
        self._on_stop = on_stop
        self._dispatch_all()

    def attend(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make a loop read what the engine sends."""
        if loop not in self._loops:
            self._loops.add(loop)
            loop.add_reader(self._socket, self._readable)

    def call(self, message: Call[T]) -> T:
        """Make a call, blocking the calling thread. Raises the PieError the engine answers with."""
        if self._sender == threading.get_ident():
            raise ProtocolError("call: from a finalizer, while a frame is half sent", hint="release it in the program")
        waiter = _Waiter(type(message))
        self._ask(message, waiter)
        while self._reading.enter(waiter):
            try:
                self._await_bytes()
                self._dispatch_all()
            finally:
                self._reading.leave()
        if waiter.error is not None:
            raise waiter.error
        return waiter.reply

    async def submit(self, message: Call[T]) -> T:
        """Make a call. Cancelling withdraws it unless its batch is already running (E5)."""
        loop = asyncio.get_running_loop()
        self.attend(loop)
        future: asyncio.Future[T] = loop.create_future()
        number = self._ask(message, _Waiter(type(message), future))
        try:
            return await future
        except asyncio.CancelledError:
            if self._waiting.pop(number, None) is not None:
                self._send(CancelCall(number))
            raise

    def post(self, message: Call[Any]) -> None:
        """Make a call without an answer, ordered before everything sent later."""
        self._send(CallFrame(NO_ANSWER, message))

    def write(self, stream: StreamName, text: str) -> None:
        """Send program output, in order with its calls; blocks while the engine does not read."""
        piece = OUTPUT_LIMIT_BYTES // 4  # a character has at most four bytes
        for start in range(0, len(text), piece):
            self._send(Output(stream, text[start : start + piece]))

    def tell_clock(self, time_ns: int) -> None:
        """Report that the program read a clock."""
        self._send(ClockReading(time_ns))

    def end(self, ended: Ended) -> None:
        """Report how the program ended."""
        self._send(ended)

    def disown(self) -> None:
        """Close the link in a process forked from this one."""
        self._socket.close()

    def bequeath(self, fd: int) -> None:
        """Make the link descriptor `fd` of what this process executes next."""
        os.dup2(self._socket.fileno(), fd, inheritable=True)

    def _ask(self, message: Call[Any], waiter: _Waiter) -> int:
        number = next(self._numbers)
        self._waiting[number] = waiter
        try:
            self._send(CallFrame(number, message))
        except BaseException:
            self._waiting.pop(number, None)
            raise
        return number

    def _send(self, frame: Frames, *, waits: bool = True) -> None:
        """Queue and send a frame; without `waits`, a thread that is already sending sends it."""
        self._unsent.append(pack(frame))
        if self._writing.acquire(blocking=waits):
            try:
                self._send_all()
            finally:
                self._writing.release()

    def _send_all(self) -> None:
        """Frames that a finalizer adds while one is half sent follow after it."""
        while self._unsent and self._sender is None:
            self._sender = threading.get_ident()
            try:
                self._send_whole(memoryview(self._unsent.popleft()))
            finally:
                self._sender = None

    def _send_whole(self, rest: memoryview) -> None:
        while rest:
            try:
                rest = rest[self._socket.send(rest) :]
            except BlockingIOError:
                if self._wait_for(select.POLLIN | select.POLLOUT) & select.POLLIN:
                    self._readable()
            except (BrokenPipeError, ConnectionResetError):
                os._exit(LOST_ENGINE_STATUS)

    def _wait_for(self, events: int) -> int:
        """Block until the socket is ready; returns for which events."""
        poll = select.poll()
        poll.register(self._socket, events)
        ((_, ready),) = poll.poll()
        return ready

    def _await_bytes(self) -> None:
        self._wait_for(select.POLLIN)
        with contextlib.suppress(BlockingIOError):  # a finalizer has read them in between
            self._receive()

    def _receive(self, most_bytes: int = READ_BYTES) -> None:
        if not self._frames.receive(self._socket, most_bytes):
            os._exit(LOST_ENGINE_STATUS)

    def _readable(self) -> None:
        if not self._reading.try_enter():
            return  # a waiting thread reads already
        try:
            self._receive()
            self._dispatch_all()
        except BlockingIOError:
            return
        finally:
            self._reading.leave()

    def _dispatch_all(self) -> None:
        while (frame := self._frames.next_frame()) is not None:
            self._dispatch(frame)

    def _dispatch(self, frame: FromEngine) -> None:
        match frame:
            case Answer(number=number, reply=reply):
                if (waiter := self._waiting.pop(number, None)) is not None:
                    waiter.complete(reply_decoder(waiter.call).decode(reply), None)
            case ErrorAnswer(number=number, error=error):
                if (waiter := self._waiting.pop(number, None)) is not None:
                    waiter.complete(None, error.exception())
            case Ping():
                self._send(Pong(), waits=False)  # a sender may be waiting for a reader
            case Stop(reason=reason):
                self._on_stop(reason)
            case LaunchSpec() | NodeStart() | NodeLaunch():
                os._exit(LOST_ENGINE_STATUS)  # a worker runs one program


def _finish(future: "asyncio.Future[Any]", reply: Any, error: Exception | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(reply)
    else:
        future.set_exception(error)


def _ignore(reason: str) -> None:
    del reason
