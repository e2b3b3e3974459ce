"""Plays a recorded run."""

import asyncio
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pie_mlx.errors import InvalidArgumentError
from pie_mlx.event_log import read_events
from pie_mlx.events import TickCompleted
from pie_mlx.plural import plural
from pie_mlx.tui.model import Record, records_of
from pie_mlx.tui.model.folding.checkpoints import Checkpoints
from pie_mlx.tui.source.base import Feed, Link
from pie_mlx.tui.source.playback import Playback

PLAY_SECONDS = 0.05


class RecordingSource:
    """Plays records at the pace of its `playback`, forwards, backwards and in steps."""

    def __init__(
        self,
        records: Sequence[Record],
        label: str,
        *,
        unknown: int = 0,
        notice: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`notice` is a line about a problem of the recording. Raises InvalidArgumentError when it is empty."""
        if not records:
            raise InvalidArgumentError(f"{label}: it holds no events", hint="record a run with 'pie serve --record'")
        self.label = label
        self.playback = Playback(records[-1].seconds - records[0].seconds)
        self._records = records
        self._start = records[0].seconds
        self._checkpoints = Checkpoints(records)
        self._ticks = [place for place, record in enumerate(records, 1) if isinstance(record.event, TickCompleted)]
        self._unknown = unknown
        self._notice = notice
        self._clock = clock
        self._shown = 0
        self._shown_position = -1.0

    @property
    def records(self) -> Sequence[Record]:
        """All records."""
        return self._records

    async def run(self, feed: Feed) -> None:
        feed.link(Link("replay", self._notice))
        feed.missed(unknown=self._unknown)
        before = self._clock()
        while True:
            now = self._clock()
            self.play(feed, now - before)
            before = now
            await asyncio.sleep(PLAY_SECONDS)

    async def watch_tokens(self, process: str) -> None:
        """It has the tokens that were watched when it was made."""

    async def pool(self, model: str = "") -> None:
        """Events tell how many pages there are, not which."""

    async def page(self, number: int, model: str = "") -> None:
        """As for the pool."""

    def play(self, feed: Feed, seconds: float) -> None:
        """Feed the records of `seconds` of real time, and apply seeks and steps."""
        playback = self.playback
        playback.pass_time(seconds)
        if playback.steps:
            self._step(feed)
        elif playback.position_seconds != self._shown_position:
            self._move(feed, self._checkpoints.count_until(self._start + playback.position_seconds))

    def _step(self, feed: Feed) -> None:
        """Move to the end of a tick before or after the shown one."""
        steps, self.playback.steps = self.playback.steps, 0
        passed = sum(place <= self._shown for place in self._ticks)
        target = min(len(self._ticks), max(0, passed + steps))
        count = self._ticks[target - 1] if target else 0
        shown = self._records[count - 1] if count else self._records[0]
        self.playback.position_seconds = shown.seconds - self._start
        self._move(feed, count)

    def _move(self, feed: Feed, count: int) -> None:
        now = self._start + self.playback.position_seconds
        if count >= self._shown and self.playback.position_seconds >= self._shown_position >= 0:
            feed.extend(self._records[self._shown : count])
            feed.advance(now)
        else:
            feed.reset(self._checkpoints.state(count, now))
            feed.missed(unknown=self._unknown)
        self._shown, self._shown_position = count, self.playback.position_seconds


def open_recording(path: Path) -> RecordingSource:
    """Raises InvalidArgumentError for an empty file or one that is not a recording, OSError when it cannot be read."""
    log = read_events(path)
    notice = (
        f"{path.name} was cut short: its last {plural(log.torn_bytes, 'byte is', 'bytes are')} not an event"
        if log.torn_bytes
        else ""
    )
    return RecordingSource(list(records_of(log.events)), path.name, unknown=log.unknown, notice=notice)
