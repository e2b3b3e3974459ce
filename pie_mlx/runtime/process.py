"""A launched program, as whoever launched it holds it."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from pie_mlx.calls import Host
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.events import ProcessFailed, ProcessReturned
from pie_mlx.runtime.local_session import LocalSession
from pie_mlx.runtime.outcome import Failed, Outcome
from pie_mlx.runtime.outlet import Outlet
from pie_mlx.runtime.output import Write
from pie_mlx.runtime.program_thread import ProgramThread

CANCEL_GRACE_SECONDS = 2.0
"""How long a cancelled program may take to end before it is given up."""


Release = Callable[[], Coroutine[Any, Any, None]]
"""Gives back all a process owned (E7)."""


class Process:
    """A running program. Ended programs keep their result.

    `id` is a lower-case UUID. All methods belong to the loop that launched it.
    """

    def __init__(self, id: str, session: LocalSession, outlet: Outlet) -> None:
        self.id = id
        self._session = session
        self._outlet = outlet
        self._loop = asyncio.get_running_loop()
        self._reported: asyncio.Future[Outcome] = self._loop.create_future()
        self._thread: ProgramThread | None = None
        self._supervision: asyncio.Task[Outcome] | None = None
        self._grace: asyncio.TimerHandle | None = None
        self._deaf: Exception | None = None
        outlet.process = id
        outlet.on_failure = self._observer_failed

    def start(self, body: Callable[[], Awaitable[object]], host: Host, release: Release, write: Write | None) -> None:
        """Begin to execute `body`."""
        self._thread = ProgramThread(body, host, name=f"pie-{self.id[:8]}", write=write, report=self._report)
        self._supervision = asyncio.create_task(self._supervise(release))
        self._thread.start()

    def send(self, message: str) -> None:
        """Queue a message for `session.receive`."""
        self._session.messages.put(message)

    def send_file(self, data: bytes) -> None:
        """Queue a file for `session.receive_file`."""
        self._session.files.put(data)

    def close_session(self) -> None:
        """Say that nothing more will be sent; a program that waits for it gets SessionClosedError."""
        self._session.close()

    def cancel(self, reason: str = "cancelled") -> None:
        """Ask the program to end; after a grace of two seconds it is given up. Idempotent.

        It fails with a ProcessCancelledError that says `reason`, whatever it returns meanwhile.
        """
        if self._thread is not None:
            self._thread.cancel(reason)
        given_up = Failed(ProcessCancelledError(reason))
        self._grace = self._grace or self._loop.call_later(CANCEL_GRACE_SECONDS, self._settle, given_up)

    async def outcome(self) -> Outcome:
        """How it ended, once everything it owned is released. Cancelling the wait leaves it running."""
        if self._supervision is None:
            raise ProcessCancelledError("process: it was never started")
        return await asyncio.shield(self._supervision)

    async def result(self) -> Any:
        """What the program returned, as JSON says it. Raises the exception that ended it."""
        outcome = await self.outcome()
        if isinstance(outcome, Failed):
            raise outcome.error
        return outcome.decoded()

    def _observer_failed(self, error: Exception) -> None:
        self._deaf = error
        self.cancel()

    def _report(self, outcome: Outcome) -> None:
        with contextlib.suppress(RuntimeError):  # nobody is waiting any more: the launcher's loop has closed
            self._loop.call_soon_threadsafe(self._settle, outcome)

    def _settle(self, outcome: Outcome) -> None:
        if not self._reported.done():
            self._reported.set_result(outcome)

    async def _supervise(self, release: Release) -> Outcome:
        outcome = await self._reported
        if self._deaf is not None:
            outcome = Failed(self._deaf)
        if self._grace is not None:
            self._grace.cancel()
        self._session.close()
        await release()
        if isinstance(outcome, Failed):
            self._outlet.deliver(ProcessFailed(self.id, outcome.error_type, outcome.message))
        else:
            self._outlet.deliver(ProcessReturned(self.id, outcome.value, outcome.format))
        self._outlet.close()
        return outcome
