"""When a context waited for what, and pieces of time."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from pie_mlx.events import ContextRestored, ContextRestoring, ContextSuspended, Event, WaitChanged

RESTORE = "restore"


class Interval(NamedTuple):
    """From `start` to `end`, in seconds."""

    start: float
    end: float


class Held(NamedTuple):
    """What held a context up from `start` to `end`: the kind of reason, or RESTORE, and the reason for people."""

    reason: str
    text: str
    start: float
    end: float


@dataclass(slots=True)
class ContextStates:
    """The states of one context, from its events in their order."""

    _past: list[Held] = field(default_factory=list[Held])
    _reason: str = ""
    _text: str = ""
    _since: float = 0.0

    def observe(self, event: Event) -> None:
        match event:
            case WaitChanged() | ContextSuspended():
                self._change(event.reason, event.text, event.at_seconds)
            case ContextRestoring(at_seconds=now):
                self._change(RESTORE, "restored: pages are read or computed again", now)
            case ContextRestored(at_seconds=now):
                self._change("", "", now)
            case _:
                pass

    def within(self, start: float, end: float) -> Iterator[Held]:
        """What held it up during an interval, cut to that."""
        first = bisect_right(self._past, start, key=lambda held: held.end)
        for place in range(first, len(self._past)):
            held = self._past[place]
            if held.start >= end:
                return
            yield held._replace(start=max(held.start, start), end=min(held.end, end))
        if self._reason and self._since < end:
            yield Held(self._reason, self._text, max(self._since, start), end)

    def _change(self, reason: str, text: str, now: float) -> None:
        if self._reason and now > self._since:
            self._past.append(Held(self._reason, self._text, self._since, now))
        self._reason, self._text, self._since = reason, text, now


def joined(intervals: Iterable[Interval]) -> list[Interval]:
    """The same time in intervals that neither touch nor overlap, in order."""
    found: list[Interval] = []
    for interval in sorted(intervals):
        if found and interval.start <= found[-1].end:
            found[-1] = found[-1]._replace(end=max(found[-1].end, interval.end))
        elif interval.end > interval.start:
            found.append(interval)
    return found


def gaps(intervals: Iterable[Interval], start: float, end: float) -> Iterator[Interval]:
    """The time from `start` to `end` that is in none of the intervals."""
    for interval in joined(intervals):
        if interval.start > start:
            yield Interval(start, min(interval.start, end))
        start = max(start, interval.end)
        if start >= end:
            return
    yield Interval(start, end)
