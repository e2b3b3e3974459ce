"""Answers the calls of one worker."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from pie_mlx.calls import Call
from pie_mlx.engine.hosting.engine_time import metered
from pie_mlx.engine.hosting.loop import ended
from pie_mlx.engine.hosting.process import ProcessHost
from pie_mlx.errors import PieError, ProcessError, ProtocolError
from pie_mlx.runtime.worker.frames.messages import (
    NO_ANSWER,
    ErrorAnswer,
    WireError,
    is_long_reply,
    pack,
    pack_answer,
    pack_long_answer,
)

USER_LIMIT_BYTES = 512 << 20
"""Limit for all programs of a user; a single call may exceed it."""


@dataclass(slots=True, eq=False)
class UserCallMemory:
    """The memory that calls of one user take while in progress."""

    username: str
    _all: "Counter[str]"

    @property
    def held_bytes(self) -> int:
        return self._all[self.username]

    def has_room(self, size_bytes: int) -> bool:
        held_bytes = self.held_bytes
        return not held_bytes or held_bytes + size_bytes <= USER_LIMIT_BYTES

    def count_bytes(self, size_bytes: int) -> None:
        """Add to the count; negative sizes subtract."""
        self._all[self.username] += size_bytes
        if not self._all[self.username]:
            del self._all[self.username]


@dataclass(frozen=True, slots=True)
class CallMemory:
    """The memory that calls in progress take, by user."""

    _held: "Counter[str]" = field(default_factory=Counter[str])

    def of(self, username: str) -> UserCallMemory:
        return UserCallMemory(username, self._held)


CALLS_LIMIT = 16_384
"""Calls in progress per worker; more are refused. They may wait for each other, so they cannot be queued."""
CALLS_LIMIT_BYTES = 256 << 20
"""Memory of the calls in progress per worker; a single call may exceed it."""
POSTED_LIMIT, POSTED_LIMIT_BYTES = 1024, 16 << 20
"""Posted calls in progress per worker; beyond these its frames are not read. They end without its help."""


class CallDispatcher:
    """Runs each call as a task of the engine's loop, in order of arrival (P3). Belongs to that loop.

    `send` gets the answers; `done` is called when a posted call ends. `call_memory` is that of the program's user.
    """

    def __init__(
        self,
        host: ProcessHost,
        send: Callable[[bytes], None],
        done: Callable[[], None],
        call_memory: UserCallMemory,
    ) -> None:
        self._host = host
        self._send, self._done = send, done
        self._call_memory = call_memory
        self._tasks: dict[int, tuple[asyncio.Task[Any], int]] = {}
        self._held_bytes = 0
        self._posted: dict[asyncio.Task[Any], int] = {}
        self._posted_bytes = 0

    @property
    def is_full(self) -> bool:
        """Whether further posted calls should wait."""
        return len(self._posted) >= POSTED_LIMIT or self._posted_bytes >= POSTED_LIMIT_BYTES

    def begin(self, number: int, message: Call[Any], held_bytes: int) -> None:
        """Start a call. Raises ProtocolError for the number of a call in progress."""
        if number in self._tasks or number < NO_ANSWER:
            raise ProtocolError(f"call {number}: number in use")
        loop = asyncio.get_running_loop()
        if number == NO_ANSWER:
            task = loop.create_task(self._metered(partial(self._host.answer, message)))
            task.add_done_callback(self._end_posted)
            self._posted[task] = held_bytes
            self._posted_bytes += held_bytes
        elif self._has_room(held_bytes):
            self._tasks[number] = (loop.create_task(self._metered(partial(self._serve, number, message))), held_bytes)
            self._held_bytes += held_bytes
            self._call_memory.count_bytes(held_bytes)
        else:
            self._send(_error_answer(number, self._overflow()))

    def refuse(self, number: int, error: PieError) -> None:
        """Answer a call with an error, unless it was posted."""
        if number > NO_ANSWER:
            self._send(_error_answer(number, error))

    def cancel_call(self, number: int) -> None:
        """Cancel a call that is no longer awaited (E5)."""
        task = self._forget(number)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        """Cancel all calls in progress."""
        for number in list(self._tasks):
            self.cancel_call(number)
        for task in self._posted:
            task.cancel()

    def _has_room(self, held_bytes: int) -> bool:
        fits = self._held_bytes + held_bytes <= CALLS_LIMIT_BYTES and len(self._tasks) < CALLS_LIMIT
        return (fits or not self._tasks) and self._call_memory.has_room(held_bytes)

    def _overflow(self) -> ProcessError:
        held = f"{len(self._tasks)} calls with {self._held_bytes >> 20} MiB are in progress"
        limits = f"{CALLS_LIMIT} with {CALLS_LIMIT_BYTES >> 20} MiB, or {USER_LIMIT_BYTES >> 20} MiB of all programs"
        return ProcessError(f"{held}, the limit is {limits}", hint="await some before making more")

    def _forget(self, number: int) -> asyncio.Task[Any] | None:
        task, held_bytes = self._tasks.pop(number, (None, 0))
        self._held_bytes -= held_bytes
        if held_bytes:
            self._call_memory.count_bytes(-held_bytes)
        return task

    async def _metered(self, work: Callable[[], Coroutine[Any, Any, Any]]) -> None:
        await metered(work(), self._host.time.worked)

    async def _serve(self, number: int, message: Call[Any]) -> None:
        """Answers here, not in a done callback, which would cost another loop iteration per decode step."""
        try:
            reply = await self._host.answer(message)
            if is_long_reply(reply):
                data = await self._host.time.aside(pack_long_answer, number, reply)
            else:
                data = pack_answer(number, reply)
        except asyncio.CancelledError:
            data = _error_answer(number, ended())
        except Exception as error:
            data = _error_answer(number, error)
        if self._forget(number) is not None:  # else it was cancelled
            self._send(data)

    def _end_posted(self, task: asyncio.Task[Any]) -> None:
        if not task.cancelled():
            task.exception()  # marks it as retrieved
        self._posted_bytes -= self._posted.pop(task, 0)
        self._done()


def _error_answer(number: int, failure: BaseException) -> bytes:
    error = failure if isinstance(failure, PieError) else PieError(f"{type(failure).__name__}: {failure}")
    return pack(ErrorAnswer(number, WireError.of(error)))
