"""The event feed for monitors: numbers events, keeps recent ones, and filters them by user."""

import time
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from sys import getsizeof

import msgspec

from pie_mlx.events import (
    DETAIL_KINDS,
    AccountJoined,
    AccountLeft,
    ContextCreated,
    ContextForked,
    ContextReleased,
    Event,
    MarketSettled,
    McpCalled,
    McpToolsListed,
    PagesCounted,
    ProcessFailed,
    ProcessLaunched,
    ProcessMessage,
    ProcessOutput,
    ProcessQueued,
    ProcessReturned,
    TokensComputed,
    TokensDrawn,
)
from pie_mlx.runtime.registry import User
from pie_mlx.server.frames import VALUE_LIMIT_BYTES, engine_event

KEPT = 4096
KEPT_BYTES = 32 << 20
GAP = "gap"

_BARE_BYTES = 512
"""Approximate memory of an event without its long field."""
_MOVEMENT_BYTES = 256
_TOOL_BYTES = 512
_COUNT_BYTES = 128
_TOKEN_BYTES = 96
_LIKELY_BYTES = 160
_LONG_FIELDS: dict[type[Event], str] = {
    ProcessOutput: "text",
    ProcessMessage: "text",
    ProcessReturned: "value",
    ProcessFailed: "message",
    McpCalled: "error",
}
"""Fields whose length programs and servers control."""


@dataclass(slots=True)
class EventOwners:
    """Owners of the processes, contexts and accounts in events."""

    _processes: dict[str, str] = field(default_factory=dict[str, str])
    _contexts: dict[int, str] = field(default_factory=dict[int, str])
    _accounts: dict[int, str] = field(default_factory=dict[int, str])

    def observe(self, event: Event) -> None:
        match event:
            case ProcessLaunched() | ProcessQueued():
                self._processes[event.process] = event.username
            case (
                ContextCreated(process=process, context=context, account=account)
                | ContextForked(process=process, context=context, account=account)
            ):
                self._contexts[context] = self._accounts[account] = self._processes.get(process, "")
            case _:
                pass

    def forget(self, event: Event) -> None:
        match event:
            case ProcessReturned(process=process) | ProcessFailed(process=process):
                self._processes.pop(process, None)
            case ContextReleased(context=context):
                self._contexts.pop(context, None)
            case AccountLeft(account=account, model=""):
                self._accounts.pop(account, None)
            case _:
                pass

    def of(self, event: Event) -> str | None:
        """The user that an event concerns; None for totals, "" if unknown."""
        process: str | None = getattr(event, "process", None)
        context: int | None = getattr(event, "context", None)
        if process is not None:
            return self.of_process(process)
        if context is not None:
            return self.of_context(context)
        if isinstance(event, AccountJoined | AccountLeft):
            return self._accounts.get(event.account, "")
        return None

    def of_process(self, process: str) -> str:
        """The user of a process, "" if unknown."""
        return self._processes.get(process, "")

    def of_context(self, context: int) -> str:
        """The user of a context, "" if unknown."""
        return self._contexts.get(context, "")

    def accounts_of(self, username: str) -> set[int]:
        return {account for account, owner in self._accounts.items() if owner == username}


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """A numbered event. `owner` is None for totals."""

    sequence: int
    time: float
    event: Event
    owner: str | None
    size_bytes: int

    def seen_by(self, user: User, owners: EventOwners) -> Event | None:
        """The part of the event visible to `user`, None if nothing."""
        if user.admin or self.owner == user.name:
            return self.event
        if self.owner is not None:
            return None
        match self.event:
            case MarketSettled(movements=movements):
                own = owners.accounts_of(user.name)
                seen = tuple(movement for movement in movements if movement.account in own)
                return msgspec.structs.replace(self.event, movements=seen)
            case PagesCounted(processes=processes, contexts=contexts):
                return msgspec.structs.replace(
                    self.event,
                    processes=tuple(one for one in processes if owners.of_process(one.process) == user.name),
                    contexts=tuple(one for one in contexts if owners.of_context(one.context) == user.name),
                )
            case event:
                return event


class Feed:
    """Numbers every event and keeps recent ones; never waits for readers. For one loop.

    Keeps at most `kept` events and `kept_bytes`, but always the last event.
    """

    def __init__(self, clock: Callable[[], float] = time.time, kept: int = KEPT, kept_bytes: int = KEPT_BYTES) -> None:
        self._clock = clock
        self._most, self._most_bytes = kept, kept_bytes
        self._kept: deque[FeedEvent] = deque()
        self._kept_bytes = 0
        self._wake: dict[object, Callable[[], None]] = {}
        self.owners = EventOwners()
        self.sequence = 0

    def publish(self, event: Event) -> None:
        self.owners.observe(event)
        self.sequence += 1
        self._keep(FeedEvent(self.sequence, self._clock(), event, self.owners.of(event), _size_bytes(event)))
        self.owners.forget(event)
        for wake in self._wake.values():
            wake()

    def subscribe(self, reader: object, wake: Callable[[], None]) -> None:
        """Call `wake` at every new event."""
        self._wake[reader] = wake

    def unsubscribe(self, reader: object) -> None:
        self._wake.pop(reader, None)

    def after(self, sequence: int) -> tuple[int, FeedEvent | None]:
        """The number of dropped events after `sequence`, and the first kept one."""
        if not self._kept or sequence >= self.sequence:
            return 0, None
        first = self._kept[0].sequence
        missed = max(first - sequence - 1, 0)
        return missed, self._kept[max(sequence + 1 - first, 0)]

    def _keep(self, numbered: FeedEvent) -> None:
        self._kept.append(numbered)
        self._kept_bytes += numbered.size_bytes
        while len(self._kept) > 1 and (len(self._kept) > self._most or self._kept_bytes > self._most_bytes):
            self._kept_bytes -= self._kept.popleft().size_bytes


def _size_bytes(event: Event) -> int:
    """Approximate memory of an event, without scanning its text: called for every event."""
    if (name := _LONG_FIELDS.get(type(event))) is not None:
        return _BARE_BYTES + getsizeof(getattr(event, name))
    if isinstance(event, MarketSettled):
        return _BARE_BYTES + len(event.movements) * _MOVEMENT_BYTES
    if isinstance(event, PagesCounted):
        return _BARE_BYTES + (len(event.processes) + len(event.contexts)) * _COUNT_BYTES
    if isinstance(event, TokensComputed):
        return _BARE_BYTES + len(event.pieces) * _TOKEN_BYTES
    if isinstance(event, TokensDrawn):
        return _BARE_BYTES + sum(len(token.likely) + 1 for token in event.tokens) * _LIKELY_BYTES
    if isinstance(event, McpToolsListed):
        return _BARE_BYTES + len(event.tools) * _TOOL_BYTES
    return _BARE_BYTES


@dataclass(slots=True, eq=False)
class WatchedTokens:
    """The one process of which a client receives tokens too; empty for none."""

    process: str = ""


@dataclass(slots=True)
class Watcher:
    """One reader's position in the feed. `kinds` None means all but details, which a reader has to name."""

    feed: Feed
    user: User
    sequence: int
    kinds: Collection[str] | None = None
    tokens: WatchedTokens = field(default_factory=WatchedTokens)

    def next_frame(self) -> bytes | None:
        """The next event visible to the reader, or a gap; None at the end."""
        while True:
            missed, found = self.feed.after(self.sequence)
            if found is None:
                return None
            if missed:
                self.sequence = found.sequence - 1
                return engine_event(self.sequence, found.time, GAP, f'{{"missed":{missed}}}')
            self.sequence = found.sequence
            if (frame := self._frame(found)) is not None:
                return frame

    def _frame(self, found: FeedEvent) -> bytes | None:
        kind = found.event.kind
        if kind in DETAIL_KINDS if self.kinds is None else kind not in self.kinds:
            return None
        if isinstance(found.event, TokensDrawn) and found.event.process != self.tokens.process:
            return None
        event = found.seen_by(self.user, self.feed.owners)
        if event is None:
            return None
        data = msgspec.json.encode(event)
        if len(data) > VALUE_LIMIT_BYTES:
            return engine_event(found.sequence, found.time, GAP, '{"missed":1}')
        return engine_event(found.sequence, found.time, event.kind, data.decode())
