"""Runs a program against a recording as long as its calls agree, and then on an engine.

Nothing reaches the engine before the first call that differs. Then the recorded calls whose effect lasts are made
again, and every later call is the engine's.
"""

import asyncio
import heapq
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from pie_mlx import calls
from pie_mlx.calls import Call, Host
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.plural import plural
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.execution.output_capture import StreamName
from pie_mlx.runtime.execution.program_run import Abandoned, ProgramRun
from pie_mlx.runtime.recording.entries import Begun, Launched
from pie_mlx.runtime.recording.file import read_recording
from pie_mlx.runtime.replay.handles import Handles, to_program
from pie_mlx.runtime.replay.host import ReplayHost
from pie_mlx.runtime.replay.rebuilding import rebuild
from pie_mlx.runtime.replay.replayed import replayed
from pie_mlx.runtime.replay.tape import Tape, tapes
from pie_mlx.runtime.replay.virtual_time import ReplayLoop
from pie_mlx.runtime.worker.draws import make_repeatable
from pie_mlx.runtime.worker.frames.messages import Draws

T = TypeVar("T")

Outcomes = Mapping[str, calls.ChildOutcome]
"""How the recorded children ended, by their ids."""
_NOT_RUN = calls.ChildOutcome(
    "failed",
    error_type="ProcessError",
    message="it ran in the recording, which does not tell its end, and does not run now",
)


class WorkerSide(Host, Protocol):
    """The engine as a worker reaches it."""

    def write(self, stream: StreamName, text: str) -> None:
        """Output of the program."""
        ...

    def attend(self, loop: asyncio.AbstractEventLoop) -> None:
        """Make a loop read what the engine sends."""
        ...


def live_run(
    recording: Path, body: Callable[[], object], root: Path, engine: WorkerSide, report: Callable[[Outcome], None]
) -> "LiveRun":
    """A run of `body` in a worker, for the first process of a recording. Raises InvalidArgumentError."""
    found = tapes(read_recording(recording))
    if not found:
        raise InvalidArgumentError(f"{recording}: it has no program", hint="record a run with 'pie run --record'")
    children = {tape.launched.child: _outcome(tape) for tape in found[1:]}
    return LiveRun(found[0], children, body, root, engine, report)


def live_draws(recording: Path, begun: Begun, launched: Launched) -> Draws:
    """What makes a worker go on from a recording."""
    run_by = f"{__name__}:{live_run.__name__}"
    return Draws(launched.seed, begun.monotonic_ns, begun.wall_ns, str(recording.resolve()), run_by)


def _outcome(tape: Tape) -> calls.ChildOutcome:
    ended = tape.ended
    if ended is None:
        return _NOT_RUN
    if ended.error is None:
        return calls.ChildOutcome("returned", ended.value, ended.format)
    error = ended.error
    state = "cancelled" if error.kind == "ProcessCancelledError" else "failed"
    return calls.ChildOutcome(state, error_type=error.kind, code=error.code, message=error.message)


class LiveEngine:
    """A `calls.Host` for a program that knows the numbers of a recording."""

    def __init__(self, engine: Host, handles: Handles, rebuilt: frozenset[int], children: Outcomes) -> None:
        self._engine, self._handles, self._children = engine, handles, children
        self._unclaimed = set(rebuilt)
        """Contexts for which the engine has prefetched nothing yet, whatever the recorded one had."""

    def call(self, message: Call[T]) -> T:
        if (known := self._of_child(message)) is not None:
            return known
        return to_program(message, self._engine.call(self._translated(message)))

    async def submit(self, message: Call[T]) -> T:
        if (known := self._of_child(message)) is not None:
            return known
        return to_program(message, await self._engine.submit(self._translated(message)))

    def post(self, message: Call[Any]) -> None:
        if self._of_child(message) is None:
            self._engine.post(self._translated(message))

    def _of_child(self, message: Call[Any]) -> Any:
        """The answer about a child that ran in the recording."""
        if isinstance(message, calls.AwaitChild | calls.CancelChild | calls.ForgetChild):
            return self._children.get(message.child)
        return None

    def _translated(self, message: Call[Any]) -> Call[Any]:
        if isinstance(message, calls.Forward | calls.ReleaseContext) and message.context in self._unclaimed:
            self._unclaimed.discard(message.context)
            if isinstance(message, calls.ReleaseContext):
                message = replace(message, claimed=0)
            elif message.continuation is not None:
                message = replace(message, continuation=replace(message.continuation, claimed=0))
        return self._handles.to_engine(message)


class LiveHost(ReplayHost):
    """Answers from the recording until a call differs or the recording ends, then from the engine.

    `on_live` is called once the engine has taken over, with what was rebuilt. `failure` is why it could not.
    """

    def __init__(
        self, tape: Tape, root: Path, engine: Host, children: Outcomes, on_live: Callable[[str], None]
    ) -> None:
        super().__init__(tape, root, self._go_live)
        self.failure: Exception | None = None
        self._engine, self._children, self._on_live = engine, children, on_live
        self._switching = threading.RLock()
        self._live: LiveEngine | None = None

    def call(self, message: Call[T]) -> T:
        if self._live is None:
            try:
                return super().call(message)
            except Abandoned:
                self._go_live()
        return self._running().call(message)

    async def submit(self, message: Call[T]) -> T:
        if self._live is None:
            try:
                return await super().submit(message)
            except Abandoned:
                self._go_live()
        return await self._running().submit(message)

    def post(self, message: Call[Any]) -> None:
        if self._live is None:
            try:
                super().post(message)
            except Abandoned:
                self._go_live()
            else:
                return
        self._running().post(message)

    def _running(self) -> LiveEngine:
        if self._live is None:
            raise Abandoned
        return self._live

    def _go_live(self) -> None:
        with self._switching:
            if self._live is not None or self.failure is not None:
                return
            self._deliver_all()
            handles = Handles()
            try:
                rebuilt = rebuild(self._made, self._engine, handles)
            except Exception as error:
                self.failure = error
                raise Abandoned from error
            self._live = LiveEngine(self._engine, handles, rebuilt.contexts, self._children)
            self.time.go_live()
            count = len(rebuilt.contexts)
            self._on_live(f"{plural(count, 'context')} rebuilt from {plural(rebuilt.tokens, 'known token')}")
            for message, future in self._unanswered:
                future.get_loop().call_soon_threadsafe(self._forward, message, future)

    def _deliver_all(self) -> None:
        """What the recording has answered belongs to its part, although its time has not come."""
        with self._lock:
            while self._coming:
                _, _, exchange, future = heapq.heappop(self._coming)
                future.get_loop().call_soon_threadsafe(self._answer, exchange, future)

    def _forward(self, message: Call[Any], future: "asyncio.Future[Any]") -> None:
        """Let the engine answer a call that the recording does not answer."""
        if future.done():
            return
        asking = asyncio.ensure_future(self._running().submit(message))
        future.add_done_callback(lambda _: asking.cancel())
        asking.add_done_callback(partial(_pass_on, future))


def _pass_on(future: "asyncio.Future[Any]", asked: "asyncio.Task[Any]") -> None:
    if asked.cancelled() or future.done():
        return
    if (error := asked.exception()) is not None:
        future.set_exception(error)
    else:
        future.set_result(asked.result())


class LiveRun:
    """One program on a tape and then on an engine. Its output says where live begins."""

    def __init__(
        self,
        tape: Tape,
        children: Outcomes,
        body: Callable[[], object],
        root: Path,
        engine: WorkerSide,
        report: Callable[[Outcome], None],
    ) -> None:
        self._tape, self._write, self._report = tape, engine.write, report
        self._host = LiveHost(tape, root, engine, children, self._tell_of_live)
        self._program = ProgramRun(
            body, self._host, self._ended, on_loop=engine.attend, new_loop=partial(ReplayLoop, self._host)
        )

    def make_repeatable(self, draws: Draws) -> None:
        """Replace the clocks and the sources of random numbers of this interpreter, if they are recorded."""
        if draws.seed:
            make_repeatable(draws, self._host.time.read, self._host.time.pass_by)

    def cancel(self, reason: str) -> None:
        """As `ProgramRun.cancel`."""
        self._program.cancel(reason)

    def run(self, capture: AbstractContextManager[None]) -> None:
        """Run to the end."""
        self._program.run(capture)

    def _tell_of_live(self, rebuilt: str) -> None:
        self._tell([*replayed(self._tape, self._host, None).report().splitlines(), f"live from here: {rebuilt}"])

    def _ended(self, outcome: Outcome) -> None:
        if self._host.failure is not None:
            self._tell(replayed(self._tape, self._host, None).report().splitlines())
            outcome = Failed(self._host.failure)
        elif not self._host.time.is_live:
            self._tell([*replayed(self._tape, self._host, outcome).report().splitlines(), "nothing was live"])
        self._report(outcome)

    def _tell(self, lines: Sequence[str]) -> None:
        self._write("stderr", "".join(f"[pie] {line}\n" for line in lines))
