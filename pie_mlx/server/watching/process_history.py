"""Running and recently ended processes with their token counts, folded from events, for late monitors."""

import time
from collections import deque
from collections.abc import Callable

import msgspec

from pie_mlx.events import Event, PassCompleted, ProcessFailed, ProcessLaunched, ProcessReturned
from pie_mlx.runtime.registry import User

ENDED = 200
TEXT_CHARACTERS = 500
ENDED_BYTES = 256 << 10
"""JSON bytes of ended processes in a snapshot, which must fit a frame together with the running ones."""


class ProcessTally(msgspec.Struct):
    """A process. `result` is the start of its return value or error message, `error_type` the error's class."""

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


class HistoryRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """One process in a snapshot. Times are relative, so that clocks of two machines may differ."""

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


class ProcessHistory:
    """All running processes, and the last ended ones. For one loop."""

    def __init__(self, clock: Callable[[], float] = time.time, kept: int = ENDED) -> None:
        self._clock = clock
        self._running: dict[str, ProcessTally] = {}
        self._ended: deque[ProcessTally] = deque(maxlen=kept)

    def observe(self, event: Event) -> None:
        match event:
            case PassCompleted(process=process, computed_tokens=tokens, following=following):
                if tally := self._running.get(process):
                    tally.tokens += tokens
                    tally.passes += 1 + following
            case ProcessLaunched(process=process):
                self._running[process] = ProcessTally(
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

    def rows(self, user: User, ended_bytes: int = ENDED_BYTES) -> list[HistoryRow]:
        """Processes visible to `user`: the latest ended ones that fit, then the running ones."""
        now = self._clock()
        ended: list[HistoryRow] = []
        for tally in reversed(self._ended):
            if not _is_seen(tally, user):
                continue
            row = _row(tally, now)
            ended_bytes -= len(msgspec.json.encode(row))
            if ended_bytes < 0:
                break
            ended.append(row)
        return [*ended[::-1], *(_row(tally, now) for tally in self._running.values() if _is_seen(tally, user))]

    def _end(self, process: str, result: str, error_type: str = "") -> None:
        if tally := self._running.pop(process, None):
            tally.ended_at = self._clock()
            tally.result, tally.error_type = result[:TEXT_CHARACTERS], error_type[:TEXT_CHARACTERS]
            self._ended.append(tally)


def _is_seen(tally: ProcessTally, user: User) -> bool:
    return user.admin or tally.username == user.name


def _row(tally: ProcessTally, now: float) -> HistoryRow:
    return HistoryRow(
        id=tally.id,
        username=tally.username,
        program=tally.program,
        launched_seconds_ago=now - tally.launched_at,
        ended_seconds_ago=None if tally.ended_at is None else now - tally.ended_at,
        token_budget=tally.token_budget,
        parent=tally.parent,
        input=tally.input,
        tokens=tally.tokens,
        passes=tally.passes,
        result=tally.result,
        error_type=tally.error_type,
    )
