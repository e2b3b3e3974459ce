"""The calls of one recorded process, and which of them a program that makes them again has reached."""

import difflib
import threading
from collections import defaultdict, deque
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from pie_mlx import calls
from pie_mlx.calls import Call
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.runtime.recording.entries import AnyEntry, Begun, Called, Clock, Ended, Launched, Refused, Replied
from pie_mlx.runtime.recording.file import Recording
from pie_mlx.runtime.replay.streams import ADVICE, LOOKUPS, Grammars, Stream, content, stream_of
from pie_mlx.runtime.worker.frames.messages import UNREADABLE, WireError, reply_decoder

_CANDIDATES = 64
"""Recorded calls among which the closest to one that differs is sought."""


@dataclass(slots=True, eq=False)
class Exchange:
    """A recorded call and its answer, which is missing if the program withdrew the call or ended first."""

    number: int
    message: Call[Any]
    content: bytes
    reply: msgspec.Raw | None = None
    error: WireError | None = None
    answered_ns: int | None = None
    made: bool = False
    """Whether the program has made it again."""

    def value(self) -> Any:
        """The reply. Raises the recorded error."""
        if self.error is not None:
            raise self.error.exception()
        if self.reply is None:
            return None
        try:
            return reply_decoder(type(self.message)).decode(self.reply)
        except UNREADABLE as error:
            raise InvalidArgumentError(f"recording: a damaged reply: {error}", hint="record it again") from None


@dataclass(frozen=True, slots=True)
class Disagreement:
    """The first call that differs: `before` as recorded, `after` as made; None where one side has none."""

    before: Call[Any] | None
    after: Call[Any] | None


@dataclass(slots=True, eq=False)
class _Stream:
    exchanges: list[Exchange] = field(default_factory=list[Exchange])
    place: int = 0


class Tape:
    """One recorded process. `find` is safe from any thread."""

    def __init__(self, launched: Launched, torn: bool) -> None:
        self.launched = launched
        self.ended: Ended | None = None
        self.made = 0
        """Calls that agreed, without those that always do."""
        self.readings: list[int] = []
        self.exchanges: list[Exchange] = []
        self._torn = torn
        self._lock = threading.RLock()
        self._recorded, self._live = Grammars(), Grammars()
        self._streams: dict[Stream, _Stream] = defaultdict(_Stream)
        self._free: dict[bytes, deque[Exchange]] = defaultdict(deque[Exchange])
        self._lookups: dict[bytes, Exchange] = {}
        self._advice: dict[tuple[type, Stream | None], deque[Exchange]] = defaultdict(deque[Exchange])
        self._origins: dict[Stream, tuple[bytes, Stream | None]] = {}
        """What made a handle: the content of that call, and the stream in which it was made."""
        self._aliases: dict[Stream, Stream] = {}

    @property
    def is_whole(self) -> bool:
        """Whether the process ended before the recording did."""
        return self.ended is not None or not self._torn

    def add(self, entry: AnyEntry) -> None:
        """The next entry of the process."""
        match entry:
            case Called(number=number, message=message):
                if number != len(self.exchanges):
                    return
                self.exchanges.append(Exchange(number, message, b""))
                self._file(self.exchanges[-1])
            case Replied(number=number) if number < len(self.exchanges):
                exchange = self.exchanges[number]
                exchange.reply, exchange.answered_ns = entry.reply, entry.time_ns
                self._made_handle(exchange)
            case Refused(number=number) if number < len(self.exchanges):
                exchange = self.exchanges[number]
                exchange.error, exchange.answered_ns = entry.error, entry.time_ns
            case Clock(time_ns=time_ns):
                self.readings.append(time_ns)
            case Ended():
                self.ended = entry
            case _:
                pass

    def find(self, message: Call[Any]) -> Exchange | Disagreement | None:
        """The recorded call that a call agrees with, or what differs. None where the recording was cut short."""
        with self._lock:
            found = self._find(message)
            if isinstance(found, Exchange):
                found.made = True
                self.made += type(message) not in ADVICE
            if isinstance(message, calls.ForkMatcher):
                self._live.forked(message)
            return found

    def compiled(self, exchange: Exchange) -> None:
        """The program has got the reply to a call."""
        message = exchange.message
        if isinstance(message, calls.CompileGrammar) and isinstance(state := exchange.value(), calls.MatcherState):
            self._live.compiled(message, state.matcher)

    def left(self) -> Exchange | None:
        """The first answered call that the program should have made, and did not."""
        lookups = (*LOOKUPS, *ADVICE)
        for exchange in self.exchanges:
            if not exchange.made and exchange.answered_ns is not None and not isinstance(exchange.message, lookups):
                return exchange
        return None

    def _find(self, message: Call[Any]) -> Exchange | Disagreement | None:
        stream = stream_of(message)
        if type(message) in ADVICE:
            waiting = self._advice[type(message), self._aliased(stream)]
            return waiting.popleft() if waiting else Exchange(-1, message, b"", *self._default(message))
        wanted = content(message, self._live)
        if isinstance(message, LOOKUPS):
            return self._lookups.get(wanted) or self._difference(message)
        if stream is None:
            same = self._free[wanted]
            return same.popleft() if same else self._difference(message)
        return self._next(stream, message, wanted)

    def _next(self, visible: Stream, message: Call[Any], wanted: bytes) -> Exchange | Disagreement | None:
        own = self._aliased(visible) or visible
        stream = self._streams[own]
        if not self._fits(stream, wanted) and (twin := self._twin(visible, wanted)) is not None:
            self._swap(visible, own, twin)
            stream = self._streams[twin]
        if self._fits(stream, wanted):
            stream.place += 1
            return stream.exchanges[stream.place - 1]
        if stream.place < len(stream.exchanges):
            return Disagreement(stream.exchanges[stream.place].message, message)
        return None if not self.is_whole else Disagreement(None, message)

    def _fits(self, stream: _Stream, wanted: bytes) -> bool:
        return stream.place < len(stream.exchanges) and stream.exchanges[stream.place].content == wanted

    def _twin(self, visible: Stream, wanted: bytes) -> Stream | None:
        """A handle made by the same call, with the same history up to now, whose next call is the wanted one: tasks
        that run beside each other may have made them in another order."""
        own = self._aliased(visible) or visible
        origin = self._origins.get(own)
        if origin is None:
            return None
        mine = self._streams[own]
        for name, made_by in self._origins.items():
            if name == own or made_by != origin:
                continue
            other = self._streams[name]
            shared = max(mine.place, other.place)
            after = other.exchanges[mine.place : mine.place + 1]
            if after and after[0].content == wanted and _answers(mine, shared) == _answers(other, shared):
                return name
        return None

    def _swap(self, visible: Stream, own: Stream, twin: Stream) -> None:
        """Let a handle of the program stand for the twin of the one that it stood for, and the other way round."""
        other = next((name for name, real in self._aliases.items() if real == twin), twin)
        self._aliases[visible], self._aliases[other] = twin, own
        ours, theirs = self._streams[own], self._streams[twin]
        ours.place, theirs.place = theirs.place, ours.place
        for stream in (ours, theirs):
            for place, exchange in enumerate(stream.exchanges):
                exchange.made = place < stream.place

    def _aliased(self, stream: Stream | None) -> Stream | None:
        return None if stream is None else self._aliases.get(stream, stream)

    def _difference(self, message: Call[Any]) -> Disagreement | None:
        """The closest recorded call of its kind that the program has not made yet."""
        kind = type(message)
        waiting = [one for one in self.exchanges if type(one.message) is kind and not one.made][:_CANDIDATES]
        if not waiting:
            return Disagreement(None, message) if self.is_whole else None
        return Disagreement(max((one.message for one in waiting), key=partial(_closeness, message)), message)

    def _default(self, message: Call[Any]) -> tuple[msgspec.Raw, None, int]:
        return msgspec.Raw(msgspec.msgpack.encode(ADVICE[type(message)])), None, 0

    def _file(self, exchange: Exchange) -> None:
        message = exchange.message
        if isinstance(message, calls.ForkMatcher):
            self._recorded.forked(message)
        stream = stream_of(message)
        if type(message) in ADVICE:
            self._advice[type(message), stream].append(exchange)
            return
        exchange.content = content(message, self._recorded)
        if isinstance(message, LOOKUPS):
            self._lookups.setdefault(exchange.content, exchange)
        elif stream is None:
            self._free[exchange.content].append(exchange)
        else:
            self._streams[stream].exchanges.append(exchange)

    def _made_handle(self, exchange: Exchange) -> None:
        message = exchange.message
        if isinstance(message, calls.CreateContext | calls.ForkContext):
            made: Stream = ("context", exchange.value().context)
        elif isinstance(message, calls.LaunchChild):
            made = ("child", exchange.value())
        elif isinstance(message, calls.CompileGrammar):
            if isinstance(state := exchange.value(), calls.MatcherState):
                self._recorded.compiled(message, state.matcher)
            return
        else:
            return
        self._origins[made] = (exchange.content, stream_of(message))


def _answers(stream: _Stream, count: int) -> list[tuple[bytes, bytes | None]]:
    return [(one.content, None if one.reply is None else bytes(one.reply)) for one in stream.exchanges[:count]]


def _closeness(message: Call[Any], recorded: Call[Any]) -> tuple[bool, float]:
    turn = calls.RenderTurn
    same_role = isinstance(message, turn) and isinstance(recorded, turn) and message.turn.role == recorded.turn.role
    return same_role, difflib.SequenceMatcher(None, str(recorded), str(message)).quick_ratio()


def tapes(recording: Recording) -> list[Tape]:
    """The recorded processes, in the order of their launches. Raises InvalidArgumentError for a damaged recording."""
    found: dict[int, Tape] = {}
    for entry in recording.entries:
        match entry:
            case Begun():
                continue
            case Launched():
                found.setdefault(entry.process, Tape(entry, recording.torn))
            case _ if entry.process in found:
                found[entry.process].add(entry)
            case _:
                pass
    return list(found.values())
