"""The engine's end of the link to a worker: frames in, bytes out, and its output pipes."""

import asyncio
import codecs
import os
import socket
import time
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol, TypeVar

from pie_mlx.errors import ProtocolError
from pie_mlx.runtime.execution.output_capture import StreamName
from pie_mlx.runtime.worker.fork_server import close_all
from pie_mlx.runtime.worker.frames.messages import FromWorker
from pie_mlx.runtime.worker.frames.reader import READ_BYTES, LongFrame, WorkerFrames
from pie_mlx.runtime.worker.frames.receive_budget import STALL_SECONDS, ReceiveBudget
from pie_mlx.runtime.worker.frames.turns import Turn

T = TypeVar("T")

BUFFER_BYTES = 256 << 10
"""Socket buffer in each direction: the default of 8 KiB on macOS means a wake-up per page of text."""
FRAMES_PER_TURN = 64
"""Frames handled for one worker before others get their turn."""
OUTGOING_LIMIT_BYTES = 64 << 20
"""Unread answers beyond which a worker's frames are not read."""
ROOMY_BYTES = 1 << 20
"""A longer frame needs room in the receive budget."""


class Receiver(Protocol):
    """Receives what a worker sends."""

    def frame(self, frame: FromWorker, held_bytes: int) -> None: ...

    def aside(self, work: Callable[[], T]) -> Awaitable[T]:
        """The result of `work`, run on another thread."""
        ...

    def in_turn(self, turn: Turn) -> bool:
        """Take frames now, or, if the answer is False, when others had theirs."""
        ...

    def spent(self, seconds: float, frames: int) -> float:
        """Account for handled frames; returns seconds to wait before the next."""
        ...

    def text(self, stream: StreamName, text: str) -> None: ...

    def broken(self, error: ProtocolError) -> None: ...

    def consumed(self, size_bytes: int) -> None: ...


class WorkerLink:
    """Belongs to one loop. Never blocks: it buffers what a worker does not read, and then stops reading from it.

    The constructor raises OSError if no more files can be opened.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, number: int, receive_budget: ReceiveBudget) -> None:
        self.number = number
        self._loop = loop
        self._receive_budget = receive_budget
        self._has_reserved = False
        self._decoding: asyncio.Task[None] | None = None
        self._drained: Callable[[], None] | None = None
        self._unsaid_bytes = 0
        self._receiver: Receiver | None = None
        self._frames = WorkerFrames()
        self._outgoing: deque[memoryview] = deque()
        self._outgoing_bytes = 0
        self._holds: set[str] = set()
        self._turn_waits = False
        self._awaited_sockets = 0
        self._their_sockets: deque[socket.socket] = deque()
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
        """Whether the worker must wait for the engine."""
        return bool(self._holds) or self._turn_waits

    def hand_over(self) -> tuple[int, ...]:
        """The worker's ends: link, stdout, stderr. The caller owns them; later calls return none."""
        if self._theirs.fileno() < 0:
            return ()
        pipes, self._their_pipes = self._their_pipes, []
        return (self._theirs.detach(), *pipes)

    def await_sockets(self, count: int) -> None:
        """Expect a socket with each of the first `count` frames of the worker, and with no other."""
        self._awaited_sockets = count

    def take_socket(self) -> socket.socket | None:
        """The next received socket, once; the caller then owns it."""
        return self._their_sockets.popleft() if self._their_sockets else None

    def attach(self, receiver: Receiver) -> None:
        """Start reading."""
        self._receiver = receiver
        for pipe in self._pipes.values():
            pipe.attach(receiver.text)
        self._listen()

    def send(self, data: bytes) -> None:
        """Send, or buffer. Data for an exited worker is dropped."""
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
        """Stop reading from the worker until `reason` is released."""
        if reason not in self._holds:
            self._holds.add(reason)
            self._listen()

    def release(self, reason: str) -> None:
        if reason in self._holds:
            self._holds.discard(reason)
            self._listen()

    def drain(self, then: Callable[[], None]) -> None:
        """Deliver what has arrived from an exited worker, then call `then`."""
        while not self._closed and self._receive():
            pass
        self._drained = then
        self._take_rest()

    def drain_pipes(self) -> None:
        """Read what was written to the pipes so far."""
        for pipe in self._pipes.values():
            pipe.drain()

    def close(self) -> None:
        """Release everything. Idempotent."""
        close_all(self.hand_over())
        if not self._closed:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._socket)
                self._loop.remove_writer(self._socket)
            self._socket.close()
        self._release_room()
        for pipe in self._pipes.values():
            pipe.close()
        while (unused := self.take_socket()) is not None:
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
            self._unsaid_bytes += count
            self._ask_for_turn()
            self._tell_consumed()

    def _receive(self) -> int:
        try:
            count = self._receive_first() if self._awaited_sockets else self._frames.receive(self._socket)
        except BlockingIOError:
            return 0
        except OSError:
            count = 0
        if not count:
            self._loop.remove_reader(self._socket)  # the fork server reports how it ended
        return count

    def _receive_first(self) -> int:
        """The worker sends it before it runs program code, which could attach something else."""
        data, fds, _, _ = socket.recv_fds(self._socket, READ_BYTES, 1)
        self._awaited_sockets -= 1
        for fd in fds:
            os.set_inheritable(fd, False)
            self._their_sockets.append(socket.socket(fileno=fd))
        self._frames.feed(data)
        return len(data)

    def _ask_for_turn(self) -> None:
        if self._receiver is not None and not self._receiver.in_turn(self._turn):
            self._wait_for_turn(True)

    def _turn(self) -> int:
        """Deliver some frames, unless the engine is needed elsewhere; returns their number."""
        receiver = self._receiver
        if self._closed or receiver is None or self._drained is not None:
            return 0
        frames, rest_seconds = 0, receiver.spent(0, 0)
        if not rest_seconds:
            begun, frames = time.perf_counter(), self._take_frames(FRAMES_PER_TURN)
            rest_seconds = receiver.spent(time.perf_counter() - begun, frames)
        if self._decoding is None:
            self._await_turn(rest_seconds, more=frames == FRAMES_PER_TURN)
        return frames

    def _await_turn(self, rest_seconds: float, *, more: bool) -> None:
        """Schedule the next turn: after a rest, or, with `more` frames, once others had theirs."""
        if rest_seconds > 0:
            self._loop.call_later(rest_seconds, self._ask_for_turn)
        elif more:
            self._loop.call_soon(self._ask_for_turn)
        self._wait_for_turn(more or rest_seconds > 0)

    def _wait_for_turn(self, waits: bool) -> None:
        if waits != self._turn_waits:
            self._turn_waits = waits
            self._listen()

    def _take_rest(self) -> None:
        """Deliver everything left from an exited worker."""
        self._take_frames(limit=None)
        if self._decoding is None and self._drained is not None:
            self.drain_pipes()
            then, self._drained = self._drained, None
            then()

    def _take_frames(self, limit: int | None) -> int:
        """Deliver frames up to the limit, or to one that is decoded on another thread; returns their number."""
        count = 0
        while self._receiver is not None and self._decoding is None and count != limit:
            try:
                frame = self._frames.next_frame()
            except ProtocolError as error:
                self._break(error)
                break
            if frame is None:
                self._reserve_room()
                break
            count += 1
            if isinstance(frame, LongFrame):
                self.hold("decoding")
                self._decoding = self._loop.create_task(self._decode(frame, self._receiver))
            else:
                self._release_room()
                self._receiver.frame(frame, self._frames.held_bytes)
        return count

    async def _decode(self, frame: LongFrame, receiver: Receiver) -> None:
        """Decode on another thread. No later frame of the worker overtakes it (P3)."""
        try:
            decoded = await receiver.aside(frame.decode)
            receiver.frame(decoded, frame.held_bytes)
        except ProtocolError as error:
            self._break(error)
        except BaseException:  # the engine stops
            self._receiver = None
            raise
        finally:
            self._decoding = None
            self._release_room()
            self.release("decoding")
            if self._drained is not None:
                self._take_rest()
            else:
                self._await_turn(receiver.spent(0, 0), more=True)

    def _break(self, error: ProtocolError) -> None:
        receiver, self._receiver = self._receiver, None
        self._release_room()
        if not self._closed:
            self._loop.remove_reader(self._socket)
        if receiver is not None:
            receiver.broken(error)

    def _reserve_room(self) -> None:
        """Reserve room for a long frame that has begun to arrive, before reading the rest of it."""
        size_bytes = self._frames.awaited_bytes
        if size_bytes > ROOMY_BYTES and not self._has_reserved:
            self._has_reserved = True
            stalled = ProtocolError(f"frame of {size_bytes} bytes: not received within {STALL_SECONDS:g} s")
            release = partial(self.release, "no room")
            if not self._receive_budget.reserve(
                self.number, size_bytes, go_on=release, give_up=partial(self._break, stalled)
            ):
                self.hold("no room")

    def _release_room(self) -> None:
        if self._has_reserved:
            self._has_reserved = False
            self._receive_budget.release(self.number)

    def _tell_consumed(self) -> None:
        """Not within a long frame: that is read to its end, because others may wait for its room."""
        if self._receiver is not None and not self._has_reserved:
            count, self._unsaid_bytes = self._unsaid_bytes, 0
            self._receiver.consumed(count)

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
    """Output that a worker or its descendants write to a file descriptor instead of the link."""

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
