"""`pie run --trace`: keep the events of a run, and write its trace however it ends."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Generator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import msgspec

from pie_mlx.cli.terminal.errors import warn
from pie_mlx.errors import SessionClosedError
from pie_mlx.events import AnyEvent, EngineStarted, Event, ProcessFailed, ProcessReturned

if TYPE_CHECKING:
    from pie_mlx.client import Client, EngineEvent

MOST_EVENTS = 2_000_000
"""About a gigabyte; what comes later is counted."""
KINDS = frozenset(
    str(kind.__struct_config__.tag)
    for kind in AnyEvent.__args__
    if kind.__name__ not in ("ProcessOutput", "ProcessMessage", "ProcessFile", "ClockRead")
)
"""The kinds of events that a trace is made of, details among them."""
LAST_SECONDS = 2.0
"""How long the events of a running engine may take to arrive once the program has ended."""
QUIET_SECONDS = 0.5
"""After so long without an event, a running engine has sent all that it keeps."""
_decoder = msgspec.json.Decoder(AnyEvent)


class TraceRecorder:
    """Keeps events until they are written. `of_process` restricts them to a process and its children."""

    def __init__(self) -> None:
        self.of_process = ""
        self.missed = 0
        self.events: list[Event] = []

    def observe(self, event: Event) -> None:
        if event.kind not in KINDS:
            return
        if len(self.events) < MOST_EVENTS:
            self.events.append(event)
        else:
            self.missed += 1

    def receive(self, frame: "EngineEvent") -> bool:
        """An event of a running engine; whether the process has ended with it."""
        if frame.kind == "gap":
            self.missed += int(msgspec.json.decode(frame.data)["missed"])
            return False
        try:
            event = _decoder.decode(frame.data)
        except msgspec.DecodeError:  # of an engine of another version
            self.missed += 1
            return False
        self.observe(event)
        return isinstance(event, ProcessReturned | ProcessFailed) and event.process == self.of_process

    def write(self, path: Path) -> None:
        """Raises OSError."""
        from pie_mlx.trace.file import Recorded, of_tree, write_trace

        events = of_tree(self.events, self.of_process) if self.of_process else self.events
        write_trace(path, Recorded(events, self.missed))


@contextlib.contextmanager
def tracing_to(path: Path | None) -> Generator[TraceRecorder | None]:
    """A recorder whose trace is written when the block ends, also by an exception; None for no file.

    Raises click.UsageError for a file that cannot be there.
    """
    if path is None:
        yield None
        return
    if path.is_dir() or not path.absolute().parent.is_dir():
        raise click.UsageError(f"--trace {path}: {'it is a directory' if path.is_dir() else 'no such directory'}")
    recorder = TraceRecorder()
    try:
        yield recorder
    finally:
        try:
            recorder.write(path)
        except OSError as error:
            warn(f"--trace {path}: {error.strerror}: there is no trace")


@contextlib.asynccontextmanager
async def recording_from(client: "Client", recorder: TraceRecorder | None) -> AsyncGenerator[None]:
    """Record the events of a running engine while the block runs, up to the end of the recorder's process."""
    if recorder is None:
        yield
        return
    watch = await client.watch(kinds=sorted(KINDS))
    recorder.observe(_engine(watch.snapshot["state"]))
    receiving = asyncio.create_task(_receive(watch.events, recorder))
    try:
        yield
    finally:
        if recorder.of_process:
            await asyncio.wait([receiving], timeout=LAST_SECONDS)
        receiving.cancel()
        await asyncio.gather(receiving, return_exceptions=True)


def _engine(state: Mapping[str, Any]) -> EngineStarted:
    """What an engine told when it started, from its snapshot."""
    return EngineStarted(state["model"], state["totals"]["policy"], state["pages"]["total"], state["page_size"])


async def kept_events(client: "Client") -> tuple[list[Event], int]:
    """The events that a running engine still has, and how many it has no more."""
    watch, recorder = await client.watch(since=0, kinds=sorted(KINDS)), TraceRecorder()
    recorder.observe(_engine(watch.snapshot["state"]))
    reached = int(watch.snapshot["sequence"])
    with contextlib.suppress(TimeoutError):  # others than the last ones may be for other eyes
        while True:
            async with asyncio.timeout(QUIET_SECONDS):
                frame = await anext(watch.events)
            recorder.receive(frame)
            if frame.sequence >= reached:
                break
    await watch.events.aclose()
    return recorder.events, recorder.missed


async def _receive(frames: "AsyncGenerator[EngineEvent, None]", recorder: TraceRecorder) -> None:
    with contextlib.suppress(SessionClosedError):  # the run reports that
        async for frame in frames:
            if recorder.receive(frame):
                return
