"""Trace files: what Perfetto shows and, beside it, the events that it was made of, which `pie trace` reads."""

import gzip
import zlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

import pie_mlx
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.event_log import MAGIC, read_events
from pie_mlx.events import AnyEvent, ClockRead, Event
from pie_mlx.files import write_file
from pie_mlx.trace.chrome import trace_events
from pie_mlx.trace.fold import TraceFold
from pie_mlx.trace.spans import Trace

_GZIP = b"\x1f\x8b"


class _Other(msgspec.Struct, frozen=True):
    missed: int = 0


class _File(msgspec.Struct, frozen=True):
    pieEvents: list[msgspec.Raw]  # noqa: N815 - beside the names of the format
    otherData: _Other = _Other()  # noqa: N815 - the format's name


class Recorded(msgspec.Struct, frozen=True):
    """The events of a file, and how many were lost before they got there."""

    events: Sequence[Event]
    missed: int = 0

    def trace(self) -> Trace:
        """What they tell."""
        fold = TraceFold()
        for event in self.events:
            fold.observe(event)
        return fold.trace(self.missed)


def write_trace(path: Path, recorded: Recorded) -> None:
    """Write a trace for the owner's eyes; a name that ends in `.gz` is compressed. Raises OSError."""
    content = {
        "displayTimeUnit": "ms",
        "traceEvents": trace_events(recorded.trace()),
        "otherData": {"product": "pie-mlx", "version": pie_mlx.__version__, "missed": recorded.missed},
        "pieEvents": recorded.events,
    }
    data = msgspec.json.encode(content)
    write_file(path, gzip.compress(data, 5) if path.suffix == ".gz" else data)


def read_trace(path: Path) -> Recorded:
    """The events of a trace file, or of a recording. Raises InvalidArgumentError for any other file, OSError."""
    data = path.read_bytes()
    if data.startswith(MAGIC):
        log = read_events(path)
        return Recorded(log.events, log.unknown)
    try:
        file = msgspec.json.decode(gzip.decompress(data) if data.startswith(_GZIP) else data, type=_File)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError, OSError, EOFError, zlib.error):
        raise InvalidArgumentError(
            f"{path}: it is no trace of pie-mlx", hint="name a file of 'pie run --trace', or a recording"
        ) from None
    decoder = msgspec.json.Decoder(AnyEvent)
    events, unknown = list[Event](), 0
    for raw in file.pieEvents:
        try:
            events.append(decoder.decode(raw))
        except (msgspec.DecodeError, RecursionError):  # of a newer version
            unknown += 1
    return Recorded(events, file.otherData.missed + unknown)


def of_tree(events: Sequence[Event], root: str) -> list[Event]:
    """The events of a process and of all that it launched, and of the engine's batches meanwhile."""
    processes, contexts = {root}, set[int]()
    for event in events:
        if getattr(event, "parent", "") in processes:
            processes.add(getattr(event, "process", ""))
        if getattr(event, "process", "") in processes:
            contexts.add(getattr(event, "context", 0))
    return [event for event in events if _concerns(event, processes, contexts)]


def _concerns(event: Event, processes: set[str], contexts: set[int]) -> bool:
    process, context = getattr(event, "process", None), getattr(event, "context", None)
    if process is not None:
        return process in processes
    return context is None or context in contexts or isinstance(event, ClockRead)
