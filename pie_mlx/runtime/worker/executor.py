"""The engine's side of a program in its own process."""

import asyncio
import socket
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import msgspec

from pie_mlx.engine.hosting.process import ProcessHost
from pie_mlx.errors import (
    EngineStoppedError,
    LaunchError,
    PieError,
    ProcessCancelledError,
    ProcessError,
    ProtocolError,
)
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.execution.output_capture import StreamName, Write
from pie_mlx.runtime.worker.call_dispatcher import CallDispatcher, UserCallMemory
from pie_mlx.runtime.worker.debug_relay import DebugRelay
from pie_mlx.runtime.worker.fork_server import Exit
from pie_mlx.runtime.worker.frames.messages import (
    CallFrame,
    CancelCall,
    ClockReading,
    Debugging,
    Ended,
    FromWorker,
    InvalidCall,
    LaunchSpec,
    Listening,
    Output,
    Ping,
    Pong,
    Stop,
    TypesStripped,
    pack,
)
from pie_mlx.runtime.worker.frames.turns import FRAME_SECONDS, FrameTurns, Turn
from pie_mlx.runtime.worker.link import WorkerLink
from pie_mlx.runtime.worker.outcomes import crash, launch_error, outcome_of
from pie_mlx.runtime.worker.proxy_route import new_password, open_listener
from pie_mlx.runtime.worker.starting import StartGate

T = TypeVar("T")

WALK_SECONDS = 3e-9
"""Upper bound on a handler's time per byte of its call's memory."""
_LAST_CHARACTERS = 16 << 10
WINDOW_BYTES = 1 << 20
"""Bytes a worker may send before its launcher has observed them."""
EXIT_SECONDS = 2.0
"""How long a worker may take to exit after its program has ended."""


class Pool(Protocol):
    """Where workers come from. Methods belong to the engine's loop."""

    gate: StartGate
    frame_turns: FrameTurns

    def assign_worker(self, executor: "WorkerExecutor") -> WorkerLink:
        """A worker that waits for its launch spec. Raises PieError."""
        ...

    def kill(self, number: int) -> None: ...

    def retire(self, executor: "WorkerExecutor") -> None:
        """The worker has exited, or never existed."""
        ...

    def open_proxy(self, process: str, listener: socket.socket, password: str = "") -> Callable[[], None]:
        """Serve a proxy for `process` on `listener`; returns a function that closes it. Raises PieError."""
        ...


@dataclass(frozen=True, slots=True)
class ExecutorCallbacks:
    """Callbacks of an executor to its launcher.

    All may be called on any thread. `write` gets what the program prints, `report` its outcome. `after_delivery` calls
    its argument once the launcher has observed everything delivered so far. `clock_read` gets the times at which a
    recorded program read a clock, `types_stripped` the modules of a TypeScript program before it begins.
    """

    write: Write
    report: Callable[[Outcome], None]
    after_delivery: Callable[[Callable[[], None]], None]
    clock_read: Callable[[int], None] | None = None
    types_stripped: Callable[[dict[str, str]], None] | None = None


class WorkerExecutor:
    """Runs the program that `make_spec` specifies, in one worker.

    `start`, `cancel` and `kill` may be called from any thread, the rest belongs to `loop`.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        pool: Pool,
        make_spec: Callable[[], LaunchSpec],
        host: ProcessHost,
        callbacks: ExecutorCallbacks,
        call_memory: UserCallMemory,
        username: str = "",
        debugger: socket.socket | None = None,
    ) -> None:
        self.heard_seconds = loop.time()
        """When the worker last called, or answered a ping."""
        self.process_id: int | None = None
        self.username = username
        self.niceness = 0
        self.begun: Callable[[], None] = lambda: None
        self._loop = loop
        self._pool = pool
        self._make_spec = make_spec
        self.spec: LaunchSpec | None = None
        self._host = host
        self._callbacks = callbacks
        self._call_memory = call_memory
        self._link: WorkerLink | None = None
        self._dispatcher: CallDispatcher | None = None
        self._failure: PieError | None = None
        self._cancelled = ""
        self._has_begun = False
        self._reported = False
        self._exited = False
        self._unseen_bytes = 0
        self._last_text = ""
        self._exit_timer: asyncio.TimerHandle | None = None
        self._close_proxy: Callable[[], None] | None = None
        self._debugger = debugger
        self._debug_relay: DebugRelay | None = None

    @property
    def is_debugged(self) -> bool:
        """Whether a debugger may stop it: its silence and the time it takes then mean nothing."""
        return self._debugger is not None

    @property
    def link(self) -> WorkerLink | None:
        """The link to the worker, once there is one."""
        return self._link

    @property
    def engine_seconds(self) -> float:
        """Processor time the engine spent on it, besides its passes."""
        return self._host.time.seconds

    def start(self, begun: Callable[[], None]) -> None:
        self.begun = begun
        self._on_loop(lambda: self._pool.gate.enter(self))

    def cancel(self, reason: str) -> None:
        self._cancelled = self._cancelled or reason
        self._on_loop(self._send_stop)

    def kill(self) -> None:
        self._on_loop(lambda: self.kill_with(ProcessCancelledError(self._cancelled or "cancelled")))

    def kill_with(self, failure: PieError) -> None:
        """Kill the worker for a reason; the first reason is reported."""
        self._failure = self._failure or failure
        if self._link is not None and not self._exited:
            self._pool.kill(self._link.number)

    def ping(self) -> None:
        """Ask the worker for a sign of life."""
        if self._link is not None:
            self._link.send(pack(Ping()))

    def exited(self, exit: Exit) -> None:
        """The worker has exited."""
        with self._host.time.working():
            self._exited = True
            self._pool.gate.started(self, exit.cpu_seconds)
            gone = partial(self._gone, exit)
            gone() if self._link is None else self._link.drain(gone)

    # Called by the link.

    def aside(self, work: Callable[[], T]) -> Awaitable[T]:
        return self._host.time.aside(work)

    def in_turn(self, turn: Turn) -> bool:
        return self._pool.frame_turns.enter(self.username, turn)

    def spent(self, seconds: float, frames: int) -> float:
        self._host.time.worked(seconds)
        self._host.time.charge(seconds + frames * FRAME_SECONDS)
        return self._host.time.rest_seconds

    def frame(self, frame: FromWorker, held_bytes: int) -> None:
        self._pool.gate.started(self)
        self._take_frame(frame, held_bytes)
        self._has_begun = self._has_begun or not isinstance(frame, Listening | Pong)

    def _take_frame(self, frame: FromWorker, held_bytes: int) -> None:
        match frame:
            case CallFrame():
                self.heard_seconds = self._loop.time()
                self._call(frame, held_bytes)
            case InvalidCall(number=number, error=error):
                self.heard_seconds = self._loop.time()
                if self._dispatcher is not None:
                    self._dispatcher.refuse(number, error)
            case CancelCall(number=number):
                if self._dispatcher is not None:
                    self._dispatcher.cancel_call(number)
            case Output(stream=stream, text=text):
                self.text(stream, text)
            case Listening():
                self._serve_proxy()
            case Debugging():
                self._serve_debugger()
            case TypesStripped(texts=texts):
                self._keep_types(texts)
            case ClockReading(time_ns=time_ns):
                if self._callbacks.clock_read is not None:
                    self._callbacks.clock_read(time_ns)
            case Pong():
                self.heard_seconds = self._loop.time()
            case Ended():
                self._end(frame)

    def _keep_types(self, texts: dict[str, str]) -> None:
        """Only while nothing else came: later the program itself could have sent them."""
        if self._callbacks.types_stripped is not None and not self._has_begun:
            self._callbacks.types_stripped(texts)

    def text(self, stream: StreamName, text: str) -> None:
        if stream == "stderr":
            self._last_text = (self._last_text + text)[-_LAST_CHARACTERS:]
        if not self._reported:
            self._callbacks.write(stream, text)

    def broken(self, error: ProtocolError) -> None:
        self.kill_with(ProtocolError(f"worker: {error.message}"))

    def consumed(self, size_bytes: int) -> None:
        """Pause reading at the window until the launcher has observed the output, which queues on its loop."""
        self._unseen_bytes += size_bytes
        if self._unseen_bytes > WINDOW_BYTES and self._link is not None:
            self._unseen_bytes = 0
            self._link.hold("unseen output")
            self._callbacks.after_delivery(lambda: self._on_loop(self._resume_reading))

    def begin(self) -> None:
        """Give it a worker, unless it was cancelled."""
        with self._host.time.working():
            self._begin()

    def _begin(self) -> None:
        if self._cancelled:
            self._finish(Failed(ProcessCancelledError(self._cancelled)))
            return
        try:
            self.spec = self._make_spec()
            self.spec = self._routed(self._with_debugger(self.spec))
            data = pack(self.spec.node or self.spec)
            link = self._pool.assign_worker(self)
        except Exception as error:  # the launcher waits for an outcome
            self._shut_proxy()
            self._pool.gate.started(self)
            self._pool.retire(self)
            self._finish(Failed(launch_error(error)))
            return
        self._attach_link(link, data)

    def _attach_link(self, link: WorkerLink, spec: bytes) -> None:
        self._link = link
        if self.spec is not None:
            link.await_sockets(self.is_debugged + (self.spec.route == "namespace"))
        self._dispatcher = CallDispatcher(self._host, self._answer, self._after_posted, self._call_memory)
        self.heard_seconds = self._loop.time()
        link.send(spec)
        link.attach(self)

    def _routed(self, spec: LaunchSpec) -> LaunchSpec:
        """The spec with a proxy, if that is on a port of this machine. Raises PieError."""
        if spec.route != "port":
            return spec
        password = new_password()
        try:
            listener = open_listener()
        except OSError as error:
            raise LaunchError(f"network: {error.strerror}", hint="raise the limit of open files") from None
        port: int = listener.getsockname()[1]
        self._close_proxy = self._pool.open_proxy(self._host.process_id, listener, password)
        return msgspec.structs.replace(spec, proxy_port=port, proxy_password=password)

    def _with_debugger(self, spec: LaunchSpec) -> LaunchSpec:
        if not self.is_debugged:
            return spec
        if spec.node is not None:
            raise LaunchError("debugger: it attaches to Python programs only", hint="leave out --debug-port")
        return msgspec.structs.replace(spec, debugged=True, max_cpu_seconds=None)

    def _serve_debugger(self) -> None:
        """Let one debugger use the channel that came with the frame."""
        channel = self._received_socket()
        if channel is not None and self._debugger is not None:
            self._debug_relay = DebugRelay(self._loop, self._debugger, channel)

    def _received_socket(self) -> socket.socket | None:
        found = self._link.take_socket() if self._link is not None else None
        if found is None:
            self.broken(ProtocolError("the frame carries no socket"))
        return found

    def _serve_proxy(self) -> None:
        """Serve a proxy on the socket that came with the frame."""
        listener = self._received_socket()
        if listener is None:
            return
        try:
            self._close_proxy = self._pool.open_proxy(self._host.process_id, listener)
        except PieError as error:
            self.kill_with(error)

    def _shut_proxy(self) -> None:
        if self._close_proxy is not None:
            self._close_proxy()
            self._close_proxy = None

    def _call(self, request: CallFrame, held_bytes: int) -> None:
        if self._dispatcher is None or self._link is None:
            return
        self._host.time.charge(held_bytes * WALK_SECONDS)
        try:
            self._dispatcher.begin(request.number, request.message, held_bytes)
        except ProtocolError as error:
            self.broken(error)
        if self._dispatcher.is_full:
            self._link.hold("posted calls")

    def _answer(self, data: bytes) -> None:
        if self._link is not None:
            self._link.send(data)

    def _after_posted(self) -> None:
        if self._link is not None:
            self._link.release("posted calls")

    def _send_stop(self) -> None:
        if self._debug_relay is not None and not self._debug_relay.attached:
            self.kill_with(ProcessCancelledError(self._cancelled))  # it waits for a debugger, and hears nothing else
        elif self._link is not None:
            self._link.send(pack(Stop(self._cancelled)))
        elif self._pool.gate.withdraw(self):
            self.begin()

    def _resume_reading(self) -> None:
        if self._link is not None:
            self._link.release("unseen output")

    def _end(self, ended: Ended) -> None:
        if self._failure is not None:
            return  # it is being killed, and that is what is reported
        if self._link is not None:
            self._link.drain_pipes()
        late = ProcessError("worker: it did not exit", hint="its program left threads or children running: end them")
        self._exit_timer = self._loop.call_later(EXIT_SECONDS, self.kill_with, late)
        self._finish(outcome_of(ended, self.spec))

    def _gone(self, exit: Exit) -> None:
        self._finish(Failed(self._failure or crash(exit, self.spec, self._last_text)))
        self._part()

    def _finish(self, outcome: Outcome) -> None:
        if self._reported:
            return
        if self._cancelled:
            outcome = Failed(ProcessCancelledError(self._cancelled))
        self._reported = True
        self._callbacks.report(outcome)

    def _part(self) -> None:
        if self._exit_timer is not None:
            self._exit_timer.cancel()
        if self._dispatcher is not None:
            self._dispatcher.close()
        self._shut_proxy()
        if self._debug_relay is not None:
            self._debug_relay.close()
        if self._link is not None:
            self._link.close()
            self._pool.retire(self)

    def _on_loop(self, act: Callable[[], None]) -> None:
        try:
            self._loop.call_soon_threadsafe(act)
        except RuntimeError:  # the engine has stopped, and every worker with it
            self._finish(Failed(EngineStoppedError("engine: it has stopped", hint="start another engine")))
