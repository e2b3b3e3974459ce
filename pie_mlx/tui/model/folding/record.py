"""One event and its time."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from pie_mlx.events import ClockRead, ContextForked, ContextReleased, Event, PassCompleted


class Record(NamedTuple):
    """`seconds` is Unix time for a live engine, and the recorder's own clock for a recording. It never decreases."""

    seconds: float
    event: Event


def records_of(events: Iterable[Event]) -> Iterator[Record]:
    """The events of a log with their times.

    A ClockRead carries the time of the events after it. In a log without them only some events carry a time.
    """
    events = list(events)
    has_clock = any(isinstance(event, ClockRead) for event in events)
    seconds: float | None = None
    waiting: list[Event] = []
    for event in events:
        own = _event_seconds(event, has_clock=has_clock)
        seconds = own if seconds is None else max(seconds, own or seconds)
        if isinstance(event, ClockRead):
            continue
        if seconds is None:
            waiting.append(event)
            continue
        yield from (Record(seconds, early) for early in waiting)
        waiting = []
        yield Record(seconds, event)
    yield from (Record(0.0, event) for event in waiting)


def _event_seconds(event: Event, *, has_clock: bool) -> float | None:
    match event:
        case ClockRead(at_seconds=seconds):
            return seconds
        case PassCompleted(completed_seconds=seconds) if seconds and not has_clock:
            return seconds
        case ContextForked(at_seconds=seconds) | ContextReleased(at_seconds=seconds) if seconds and not has_clock:
            return seconds
        case _:
            return None
