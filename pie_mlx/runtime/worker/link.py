"""The engine's end of one worker's link: frames in, bytes out, and the pipes beside it."""

import asyncio
import codecs
import os
import socket
from collections import deque
from collections.abc import Callable
from typing import Protocol

from pie_mlx.errors import ProtocolError
from pie_mlx.runtime.output import StreamName
from pie_mlx.runtime.worker.fork_server import close_all
from pie_mlx.runtime.worker.frames import READ_BYTES, FromWorker, from_worker

BUFFER_BYTES = 256 << 10
"""Asked for in each direction: macOS gives 8 KiB, a wake-up for every page of text."""
FRAMES_PER_TURN = 64
"""How many frames of one worker are handled before others get their turn."""
OUTGOING_LIMIT_BYTES = 64 << 20
"""Answers a worker may leave unread before its frames are."""


class Receiver(Protocol):
    """Takes what a worker says."""

    def frame(self, frame: FromWorker, size_bytes: int) -> None: ...

    def text(self, stream: StreamName, text: str) -> None: ...

    def broken(self, error: ProtocolError) -> None: ...

    def consumed(self, size_bytes: int) -> None: ...


class WorkerLink:
    """Belongs to one loop. It never blocks: what a worker does not read is kept, and then no more is read from it.

    Making one raises OSError where no more files can be opened.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, number: int) -> None:
        self.number = number
        self._loop = loop
        self._receiver: Receiver | None = None
        self._frames = from_worker()
        self._outgoing: deque[memoryview] = deque()
        self._outgoing_bytes = 0
        self._holds: set[str] = set()
        self._turn_waits = False
        self._awaits_socket = False
        self._their_socket: socket.socket | None = None
        self._socket, self._theirs = socket.socketpair()
        for end in (self._socket, self._theirs):
            for direction in (socket.SO_SNDBUF, socket.SO_RCVBUF):
                end.setsockopt(socket.SOL_SOCKET, direction, BUFFER_BYTES)
        self._socket.setblocking(False)
        self._pipes: dict[StreamName, _Pipe] = {}
        self._their_pipes: list[int] = []
        try:
            self._open_pipes()
        except OSError:
            self.close()
            raise

    @property
    def held(self) -> bool:
        """Whether the worker has to wait for the engine."""
        return bool(self._holds) or self._turn_waits

    def hand_over(self) -> tuple[int, ...]:
        """The worker's ends: link, stdout, stderr. The caller's from now on: there are none the next time."""
        if self._theirs.fileno() < 0:
            return ()
        pipes, self._their_pipes = self._their_pipes, []
        return (self._theirs.detach(), *pipes)

    def await_socket(self) -> None:
        """A socket comes along with the first frame of the worker, and with no other."""
        self._awaits_socket = True

    def take_socket(self) -> socket.socket | None:
        """The socket that came, once; it is the caller's then."""
        found, self._their_socket = self._their_socket, None
        return found

    def attach(self, receiver: Receiver) -> None:
        """Begin to read."""
        self._receiver = receiver
        for pipe in self._pipes.values():
            pipe.attach(receiver.text)
        self._listen()

    def send(self, data: bytes) -> None:
        """Send, or keep for later. What a dead worker does not get is dropped."""
        if self._closed:
            return
        view = memoryview(data)
        if not self._outgoing:
            view = view[self._sent(view) :]
        if view:
            self._outgoing.append(view)
            self._outgoing_bytes += len(view)
            self._loop.add_writer(self._socket, self._writable)
            if self._outgoing_bytes > OUTGOING_LIMIT_BYTES:
                self.hold("unread answers")

    def hold(self, reason: str) -> None:
        """Read nothing from the worker until `reason` is released."""
        if reason not in self._holds:
            self._holds.add(reason)
            self._listen()

    def release(self, reason: str) -> None:
        if reason in self._holds:
            self._holds.discard(reason)
            self._listen()

    def drain(self) -> None:
        """Take in what has arrived: nothing more comes from a worker that is dead."""
        while not self._closed and self._receive():
            pass
        self._take_frames(limit=None)
        self.drain_pipes()

    def drain_pipes(self) -> None:
        """Take in what was written to the pipes so far."""
        for pipe in self._pipes.values():
            pipe.drain()

    def close(self) -> None:
        """Let go of everything. Idempotent."""
        close_all(self.hand_over())
        if not self._closed:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._socket)
                self._loop.remove_writer(self._socket)
            self._socket.close()
        for pipe in self._pipes.values():
            pipe.close()
        if (unused := self.take_socket()) is not None:
            unused.close()
        self._outgoing.clear()

    def _open_pipes(self) -> None:
        for name in ("stdout", "stderr"):
            reading, writing = os.pipe()
            self._pipes[name] = _Pipe(self._loop, name, reading)
            self._their_pipes.append(writing)

    @property
    def _closed(self) -> bool:
        return self._socket.fileno() < 0

    def _listen(self) -> None:
        if self._closed or self._receiver is None:
            return
        if self.held:
            self._loop.remove_reader(self._socket)
            for pipe in self._pipes.values():
                pipe.listen(False)
        else:
            self._loop.add_reader(self._socket, self._readable)
            for pipe in self._pipes.values():
                pipe.listen(True)

    def _readable(self) -> None:
        count = self._receive()
        if count:
            if self._receiver is not None:
                self._receiver.consumed(count)
            self._turn()

    def _receive(self) -> int:
        try:
            count = self._receive_first() if self._awaits_socket else self._frames.receive(self._socket)
        except BlockingIOError:
            return 0
        except OSError:
            count = 0
        if not count:
            self._loop.remove_reader(self._socket)  # how it ended is the fork server's to say
        return count

    def _receive_first(self) -> int:
        """The worker sends it before it runs anything of the program, which could send something else along."""
        data, fds, _, _ = socket.recv_fds(self._socket, READ_BYTES, 1)
        self._awaits_socket = False
        for fd in fds:
            os.set_inheritable(fd, False)
            self._their_socket = socket.socket(fileno=fd)
        self._frames.feed(data)
        return len(data)

    def _turn(self) -> None:
        waits = not self._take_frames(FRAMES_PER_TURN)
        if waits:
            self._loop.call_soon(self._turn)
        if waits != self._turn_waits:
            self._turn_waits = waits
            self._listen()

    def _take_frames(self, limit: int | None) -> bool:
        """Hand on frames; False when the limit was reached."""
        count = 0
        while self._receiver is not None and count != limit:
            try:
                frame = self._frames.take()
            except ProtocolError as error:
                receiver, self._receiver = self._receiver, None
                self._loop.remove_reader(self._socket)
                receiver.broken(error)
                return True
            if frame is None:
                return True
            self._receiver.frame(frame, self._frames.taken_bytes)
            count += 1
        return self._receiver is None

    def _sent(self, view: memoryview) -> int:
        try:
            return self._socket.send(view)
        except BlockingIOError:
            return 0
        except OSError:
            return len(view)

    def _writable(self) -> None:
        while self._outgoing:
            view = self._outgoing[0]
            sent = self._sent(view)
            self._outgoing_bytes -= sent
            if sent < len(view):
                self._outgoing[0] = view[sent:]
                break
            self._outgoing.popleft()
        if not self._outgoing:
            self._loop.remove_writer(self._socket)
        if self._outgoing_bytes <= OUTGOING_LIMIT_BYTES:
            self.release("unread answers")


class _Pipe:
    """What a worker, or what it started, writes to a file descriptor instead of the link."""

    def __init__(self, loop: asyncio.AbstractEventLoop, name: StreamName, fd: int) -> None:
        self._loop = loop
        self._name: StreamName = name
        self._fd = fd
        self._take: Callable[[StreamName, str], None] | None = None
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        os.set_blocking(fd, False)

    def attach(self, take: Callable[[StreamName, str], None]) -> None:
        self._take = take

    def listen(self, on: bool) -> None:
        if self._fd < 0:
            return
        if on:
            self._loop.add_reader(self._fd, self._readable)
        else:
            self._loop.remove_reader(self._fd)

    def drain(self) -> None:
        while self._readable():
            pass

    def close(self) -> None:
        if self._fd >= 0:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1

    def _readable(self) -> bool:
        if self._fd < 0:
            return False
        try:
            data = os.read(self._fd, READ_BYTES)
        except BlockingIOError:
            return False
        text = self._decoder.decode(data, final=not data)
        if text and self._take is not None:
            self._take(self._name, text)
        if not data:
            self.close()
        return bool(data)
