"""Answers the calls of one worker."""

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

from pie_mlx.calls import Call
from pie_mlx.engine.crossing import ended
from pie_mlx.engine.host import ProcessHost
from pie_mlx.errors import PieError, ProtocolError
from pie_mlx.runtime.worker.frames import NOBODY_WAITS, Refusal, WireError, pack, pack_answer

CALLS_LIMIT = 1024
"""Calls of one worker under way before no more are taken."""


class CallDesk:
    """Each call becomes a task of the engine's loop, in the order of arrival (P3). Belongs to that loop.

    `send` is given the answers, `done` called when a call is over, answered or not.
    """

    def __init__(self, host: ProcessHost, send: Callable[[bytes], None], done: Callable[[], None]) -> None:
        self._host = host
        self._send, self._done = send, done
        self._tasks: dict[int, asyncio.Task[Any]] = {}
        self._posted = itertools.count(-1, -1)

    @property
    def is_full(self) -> bool:
        return len(self._tasks) >= CALLS_LIMIT

    def begin(self, number: int, message: Call[Any]) -> None:
        """Raises ProtocolError for the number of a call that is under way."""
        if number in self._tasks or number < NOBODY_WAITS:
            raise ProtocolError(f"call {number}: this number is in use")
        if number == NOBODY_WAITS:
            number = next(self._posted)
        self._tasks[number] = asyncio.get_running_loop().create_task(self._serve(number, message))

    def refuse(self, number: int, error: PieError) -> None:
        """Answer a call with an error, unless nobody waits."""
        if number > NOBODY_WAITS:
            self._send(_refusal(number, error))

    def take_back(self, number: int) -> None:
        """Cancel a call nobody waits for (E5)."""
        task = self._tasks.pop(number, None)
        if task is not None:
            task.cancel()

    def close(self) -> None:
        """Cancel whatever is under way."""
        for number in list(self._tasks):
            self.take_back(number)

    async def _serve(self, number: int, message: Call[Any]) -> None:
        """Not a callback of the task: that would cost another turn of the loop in every decode step."""
        try:
            data = _answer(number, await self._host.answer(message))
        except asyncio.CancelledError:
            data = _refusal(number, ended())
        except Exception as error:
            data = _refusal(number, error)
        if self._tasks.pop(number, None) is not None and number > NOBODY_WAITS:  # else it was taken back
            self._send(data)
        self._done()


def _answer(number: int, reply: object) -> bytes:
    try:
        return pack_answer(number, reply)
    except ProtocolError as error:
        return _refusal(number, error)


def _refusal(number: int, failure: BaseException) -> bytes:
    error = failure if isinstance(failure, PieError) else PieError(f"{type(failure).__name__}: {failure}")
    return pack(Refusal(number, WireError.of(error)))
