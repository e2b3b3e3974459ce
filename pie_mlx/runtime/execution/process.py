"""A launched program, as its launcher sees it."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from typing import Any

from pie_mlx.calls import Reuse
from pie_mlx.engine.hosting.ports import HttpPort
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.events import ProcessFailed, ProcessReturned
from pie_mlx.runtime.execution.executor import Executor
from pie_mlx.runtime.execution.local_session import LocalSession
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.execution.process_events import ProcessEventQueue
from pie_mlx.wire_text import clean_text

CANCEL_GRACE_SECONDS = 2.0
"""How long a cancelled program may take to end before it is abandoned."""


Release = Callable[[], Coroutine[Any, Any, None]]
"""Releases everything a process owned (E7)."""

Report = Callable[[Outcome], None]
"""Reports how a program ended. Called on any thread."""


class Process:
    """A running program. Ended programs keep their result.

    `id` is a lower-case UUID, `http` the request that it answers. `reuse` sums up its prompts, once it has ended. All
    methods belong to the loop that launched it.
    """

    def __init__(
        self, id: str, session: LocalSession, event_queue: ProcessEventQueue, http: HttpPort | None = None
    ) -> None:
        self.id = id
        self.reuse = Reuse()
        self._session = session
        self._event_queue = event_queue
        self._http = http
        self._loop = asyncio.get_running_loop()
        self._reported: asyncio.Future[Outcome] = self._loop.create_future()
        self._executor: Executor | None = None
        self._begun = asyncio.Event()
        self._supervision: asyncio.Task[Outcome] | None = None
        self._grace: asyncio.TimerHandle | None = None
        self._observer_error: Exception | None = None
        event_queue.process = id
        event_queue.on_failure = self._observer_failed

    def start(self, make_executor: Callable[[Report], Executor], release: Release) -> None:
        """Start the executor that `make_executor` returns; it reports the outcome to its argument."""
        self._executor = make_executor(self._report)
        self._supervision = asyncio.create_task(self._supervise(release))
        self._executor.start(self._mark_begun)

    def send(self, message: str) -> None:
        """Queue a message for `session.receive`; lone surrogates become U+FFFD."""
        self._session.messages.put(clean_text(message))

    def send_file(self, data: bytes) -> None:
        """Queue a file for `session.receive_file`."""
        self._session.files.put(data)

    def write_error(self, text: str) -> None:
        """Add a text to its standard error, beside what the program writes."""
        self._event_queue.write("stderr", text)

    def waiting_messages(self) -> list[int]:
        """Lengths in characters of the messages the program has not received yet."""
        return [len(text) for text in self._session.messages.waiting()]

    def awaits_client(self) -> bool:
        """Whether the program waits for a message or a file."""
        return self._session.messages.has_readers() or self._session.files.has_readers()

    def waiting_files(self) -> list[int]:
        """Sizes in bytes of the files the program has not received yet."""
        return [len(data) for data in self._session.files.waiting()]

    def hold_output(self) -> None:
        """Make the program wait, after a little more output, until `resume_output`."""
        self._event_queue.hold()

    def awaits_reader(self) -> bool:
        """Whether the program waits for `resume_output`."""
        return self._event_queue.is_held

    def resume_output(self) -> None:
        """Accept output again."""
        self._event_queue.resume()

    def close_session(self) -> None:
        """Send nothing more; a program that waits for a message or file gets SessionClosedError."""
        self._session.close()

    def cancel(self, reason: str = "cancelled") -> None:
        """Ask the program to end, and abandon it after two seconds. Idempotent.

        It fails with a ProcessCancelledError whose message is `reason`, even if it returns.
        """
        if self._executor is not None:
            self._executor.cancel(reason)
        self._grace = self._grace or self._loop.call_later(CANCEL_GRACE_SECONDS, self._abandon, reason)

    async def begun(self) -> None:
        """Wait until it runs, or has ended before."""
        await self._begun.wait()

    async def outcome(self) -> Outcome:
        """Wait until it has ended and released everything it owned. Cancelling the wait leaves it running."""
        if self._supervision is None:
            raise ProcessCancelledError("process: it was never started")
        return await asyncio.shield(self._supervision)

    async def result(self) -> Any:
        """The program's value as decoded JSON. Raises the exception that ended it."""
        outcome = await self.outcome()
        if isinstance(outcome, Failed):
            raise outcome.error
        return outcome.decoded()

    def _abandon(self, reason: str) -> None:
        if self._executor is not None:
            self._executor.kill()
        self._set_outcome(Failed(ProcessCancelledError(reason)))

    def _observer_failed(self, error: Exception) -> None:
        self._observer_error = error
        if not self._reported.done():
            self.cancel()

    def _report(self, outcome: Outcome) -> None:
        with contextlib.suppress(RuntimeError):  # the launcher's loop has closed
            self._loop.call_soon_threadsafe(self._set_outcome, outcome)

    def _mark_begun(self) -> None:
        with contextlib.suppress(RuntimeError):  # the launcher's loop has closed
            self._loop.call_soon_threadsafe(self._begun.set)

    def _set_outcome(self, outcome: Outcome) -> None:
        self._begun.set()
        if not self._reported.done():
            self._reported.set_result(outcome)

    async def _supervise(self, release: Release) -> Outcome:
        outcome = await self._reported
        if self._observer_error is not None:
            outcome = Failed(self._observer_error)
        if self._grace is not None:
            self._grace.cancel()
        self._session.close()
        await release()
        now = time.monotonic()
        if isinstance(outcome, Failed):
            self._event_queue.deliver(ProcessFailed(self.id, outcome.error_type, outcome.message, outcome.hint, now))
        else:
            status = 0 if self._http is None else self._http.status
            self._event_queue.deliver(ProcessReturned(self.id, outcome.value, outcome.format, status, now))
        self._event_queue.close()
        self._executor = None  # results may be kept for long, and a worker's link holds much memory
        return (
            outcome if self._observer_error is None else Failed(self._observer_error)
        )  # observing the last event may have failed too
