"""Who runs and who ended lately, with what was computed for each: a fold of events, for watchers that come late."""

import time
from collections import deque
from collections.abc import Callable

import msgspec

from pie_mlx.events import Event, PassCompleted, ProcessFailed, ProcessLaunched, ProcessReturned
from pie_mlx.runtime.registry import User

ENDED = 200
TEXT_CHARACTERS = 500
ENDED_BYTES = 256 << 10
"""What the ended ones of one snapshot may take as JSON; an answer must fit a frame, and those that run come with it."""


class Ran(msgspec.Struct):
    """A process. `result` begins what it returned, or the message of its error; `error_type` is that error's class."""

    id: str
    username: str
    program: str
    launched_at: float
    token_budget: int | None = None
    parent: str = ""
    input: str = ""
    tokens: int = 0
    passes: int = 0
    ended_at: float | None = None
    result: str = ""
    error_type: str = ""


class RosterRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One process in a snapshot. Times are seconds until now, so that clocks of two machines may differ."""

    id: str
    username: str
    program: str
    launched_seconds_ago: float
    ended_seconds_ago: float | None = None
    token_budget: int | None = None
    parent: str = ""
    input: str = ""
    tokens: int = 0
    passes: int = 0
    result: str = ""
    error_type: str = ""


class Roster:
    """Every process that runs, and the latest that ended. For one loop."""

    def __init__(self, clock: Callable[[], float] = time.time, kept: int = ENDED) -> None:
        self._clock = clock
        self._running: dict[str, Ran] = {}
        self._ended: deque[Ran] = deque(maxlen=kept)

    def note(self, event: Event) -> None:
        match event:
            case PassCompleted(process=process, computed_tokens=tokens, following=following):
                if ran := self._running.get(process):
                    ran.tokens += tokens
                    ran.passes += 1 + following
            case ProcessLaunched(process=process):
                self._running[process] = Ran(
                    process,
                    event.username,
                    event.program,
                    self._clock(),
                    event.token_budget,
                    event.parent,
                    event.input[:TEXT_CHARACTERS],
                )
            case ProcessReturned(process=process, value=value):
                self._end(process, value)
            case ProcessFailed(process=process, message=message, error_type=error_type):
                self._end(process, message, error_type)
            case _:
                pass

    def rows(self, user: User, ended_bytes: int = ENDED_BYTES) -> list[RosterRow]:
        """What `user` may see: as many of those that ended as fit, the latest first to get a place, then who runs."""
        now = self._clock()
        ended: list[RosterRow] = []
        for ran in reversed(self._ended):
            if not _is_seen(ran, user):
                continue
            row = _row(ran, now)
            ended_bytes -= len(msgspec.json.encode(row))
            if ended_bytes < 0:
                break
            ended.append(row)
        return [*ended[::-1], *(_row(ran, now) for ran in self._running.values() if _is_seen(ran, user))]

    def _end(self, process: str, result: str, error_type: str = "") -> None:
        if ran := self._running.pop(process, None):
            ran.ended_at = self._clock()
            ran.result, ran.error_type = result[:TEXT_CHARACTERS], error_type[:TEXT_CHARACTERS]
            self._ended.append(ran)


def _is_seen(ran: Ran, user: User) -> bool:
    return user.admin or ran.username == user.name


def _row(ran: Ran, now: float) -> RosterRow:
    return RosterRow(
        id=ran.id,
        username=ran.username,
        program=ran.program,
        launched_seconds_ago=now - ran.launched_at,
        ended_seconds_ago=None if ran.ended_at is None else now - ran.ended_at,
        token_budget=ran.token_budget,
        parent=ran.parent,
        input=ran.input,
        tokens=ran.tokens,
        passes=ran.passes,
        result=ran.result,
        error_type=ran.error_type,
    )
