"""Figures of an engine over the last quarter of an hour, folded from its events by servers and monitors alike.

Durations are counted in buckets of equal ratio, so that percentiles over any window are those of its tokens, to five
percent; memory is bounded by the number of buckets and slots.
"""

import math
from collections import deque
from collections.abc import Mapping
from typing import NamedTuple, TypeVar

import msgspec

from pie_mlx.events import (
    ContextReleased,
    EngineStarted,
    Event,
    PassCompleted,
    ProcessFailed,
    ProcessLaunched,
    ProcessReturned,
    TickCompleted,
)

Key = TypeVar("Key")

SLOT_SECONDS = 10
SLOTS = 90
WINDOWS_MINUTES = (1, 5, 15)
PROMPT_TOKENS = 8
"""More inputs than this in a pass are a new prompt; fewer are a step, with drafts or tokens that a grammar forced."""

_RATIO = math.log(1.1)
_SMALLEST_SECONDS = 1e-4
_MOST_BUCKET = 180
"""About half an hour."""
_WITHOUT_TEXT = ("embed", "embeddings")
"""Ends of paths whose answers are no text."""

Counts = dict[int, int]


def bucket_of(seconds: float) -> int:
    """The bucket of a duration."""
    if seconds <= _SMALLEST_SECONDS:
        return 0
    return min(_MOST_BUCKET, round(math.log(seconds / _SMALLEST_SECONDS) / _RATIO))


def seconds_of(bucket: int) -> float:
    """The middle of a bucket."""
    return _SMALLEST_SECONDS * math.exp(bucket * _RATIO)


class Slot(msgspec.Struct):
    """The figures of ten seconds, `number` of them after the origin of the clock.

    `first` counts waits for a first token, and `between` those for each later token, by bucket. Tokens of prompts came
    `from_memory` or `from_disk`, as did those of contexts that came back, were `replayed` by recurrent layers, or
    `computed`; `misses` counts passes by the kind of reason why pages were not cached. Of `drafted` tokens so many were
    `accepted`; `forced` ones were appended without being drawn. Of the steps that were computed ahead so many were
    `kept` and `dropped`.
    """

    number: int = 0
    first: Counts = {}
    between: Counts = {}
    from_memory: int = 0
    from_disk: int = 0
    replayed: int = 0
    computed: int = 0
    misses: dict[str, int] = {}
    drafted: int = 0
    accepted: int = 0
    forced: int = 0
    kept: int = 0
    dropped: int = 0

    def add(self, other: "Slot") -> None:
        """Count those of `other` too."""
        _merge(self.first, other.first)
        _merge(self.between, other.between)
        _merge(self.misses, other.misses)
        self.from_memory += other.from_memory
        self.from_disk += other.from_disk
        self.replayed += other.replayed
        self.computed += other.computed
        self.drafted += other.drafted
        self.accepted += other.accepted
        self.forced += other.forced
        self.kept += other.kept
        self.dropped += other.dropped

    def copied(self) -> "Slot":
        """One that can be changed."""
        fresh = Slot(self.number)
        fresh.add(self)
        return fresh


class Recent(msgspec.Struct, frozen=True):
    """The slots of the last quarter of an hour, none of which changes; when contexts drew their latest token, and when
    the requests were asked whose first token is still to come, both in seconds of the engine's clock."""

    slots: tuple[Slot, ...] = ()
    drawn: Mapping[int, float] = {}
    asked: Mapping[str, float] = {}

    def window(self, seconds: float, minutes: int) -> Slot:
        """The figures of the last `minutes` before `seconds` of the clock, to ten seconds."""
        newest = int(seconds // SLOT_SECONDS)
        total = Slot()
        for slot in self.slots:
            if newest - slot.number < minutes * 60 // SLOT_SECONDS:
                total.add(slot)
        return total


NOTHING = Recent()


class Timed(NamedTuple):
    """The token that a pass drew: the first of a reply, or a later one, `waited_seconds` after `since_seconds`."""

    is_first: bool
    since_seconds: float
    waited_seconds: float


class Figures:
    """Folds events into a `Recent`."""

    def __init__(self, before: Recent = NOTHING) -> None:
        self._slots = deque(before.slots, SLOTS)
        self._drawn, self._asked = dict(before.drawn), dict(before.asked)
        self._own: Slot | None = None

    def recent(self) -> Recent:
        """The figures so far."""
        self._own = None
        return Recent(tuple(self._slots), dict(self._drawn), dict(self._asked))

    def observe(self, event: Event, seconds: float) -> None:
        """Count an event that came at `seconds`."""
        match event:
            case PassCompleted():
                self.passed(event, seconds)
            case TickCompleted(ahead=ahead, dropped=dropped, contexts=contexts) if ahead or dropped:
                slot = self._slot(seconds)
                slot.kept += contexts if ahead else 0
                slot.dropped += dropped
            case ProcessLaunched(process=process, asked_seconds=asked) if asked:
                self._asked[process] = -1.0 if _path(event).endswith(_WITHOUT_TEXT) else asked
            case ProcessReturned(process=process) | ProcessFailed(process=process):
                self._asked.pop(process, None)
            case ContextReleased(context=context):
                self._drawn.pop(context, None)
            case EngineStarted():
                self._drawn, self._asked = {}, {}
            case _:
                pass

    def passed(self, event: PassCompleted, seconds: float) -> Timed | None:
        """Count a pass; the token it drew, if any."""
        if event.miss or event.attached_tokens or event.guessed_tokens or event.forced_tokens or event.reread_tokens:
            self._count_prompt(self._slot(seconds), event)
        asked = self._asked.get(event.process)
        if not event.rows_read or not event.completed_seconds or asked == -1.0:
            return None
        before = self._drawn.get(event.context)
        self._drawn[event.context] = event.completed_seconds
        return self._timed(event, asked, before, seconds)

    def _timed(self, event: PassCompleted, asked: float | None, before: float | None, seconds: float) -> Timed:
        """A request has one first token; any other program one for each prompt."""
        if before is None or (asked is None and event.input_tokens > PROMPT_TOKENS):
            since = asked or event.requested_seconds
            timed = Timed(True, since, max(0.0, event.completed_seconds - since))
            if asked != 0.0:
                _merge(self._slot(seconds).first, {bucket_of(timed.waited_seconds): 1})
            if asked:
                self._asked[event.process] = 0.0
            return timed
        waited = max(0.0, event.completed_seconds - before)
        _merge(self._slot(seconds).between, {bucket_of(waited / event.drawn_tokens): event.drawn_tokens})
        return Timed(False, before, waited)

    def _count_prompt(self, slot: Slot, event: PassCompleted) -> None:
        slot.drafted += event.guessed_tokens
        slot.accepted += event.guessed_right
        slot.forced += event.forced_tokens
        slot.from_disk += event.reread_tokens
        if event.miss or event.attached_tokens:
            replayed = event.replayed_tokens - event.restored_tokens
            slot.from_memory += event.attached_tokens - event.loaded_tokens
            slot.from_disk += event.loaded_tokens
            slot.replayed += replayed
            slot.computed += max(0, event.input_tokens - event.attached_tokens - replayed)
        if event.miss_reason:
            _merge(slot.misses, {event.miss_reason: 1})

    def _slot(self, seconds: float) -> Slot:
        number = int(seconds // SLOT_SECONDS)
        if self._own is not None and number <= self._own.number:
            return self._own
        if self._slots and number <= self._slots[-1].number:
            self._own = self._slots[-1] = self._slots[-1].copied()
        else:
            self._own = Slot(number)
            self._slots.append(self._own)
        return self._own


def percentile(counts: Mapping[int, int], percent: float) -> float:
    """The duration in seconds that so many percent of the counted ones do not exceed; 0 if there are none."""
    wanted = sum(counts.values()) * percent / 100
    passed = 0
    for bucket in sorted(counts):
        passed += counts[bucket]
        if passed >= wanted:
            return seconds_of(bucket)
    return 0.0


def _merge(own: dict[Key, int], more: Mapping[Key, int]) -> None:
    for key, count in more.items():
        own[key] = own.get(key, 0) + count


class _Input(msgspec.Struct):
    path: str = ""


def _path(event: ProcessLaunched) -> str:
    """The path of the request that a process answers; "" if its input names none."""
    try:
        return msgspec.json.decode(event.input, type=_Input).path
    except msgspec.DecodeError:
        return ""
