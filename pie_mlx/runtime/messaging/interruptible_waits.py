"""Waits for messages that raise when a child fails, which might have sent the message."""

import asyncio
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pie_mlx.errors import PieError


@dataclass(slots=True)
class InterruptibleWaits:
    """The waits of one process, and the failures of its children that none of them has raised yet."""

    _failures: dict[str, PieError] = field(default_factory=dict[str, PieError])
    _waiting: list["asyncio.Task[Any]"] = field(default_factory=list["asyncio.Task[Any]"])
    _raising: dict["asyncio.Task[Any]", PieError] = field(default_factory=dict["asyncio.Task[Any]", PieError])
    _loop: asyncio.AbstractEventLoop | None = None

    @contextmanager
    def waiting(self) -> Generator[None, None, None]:
        """Wait inside of it, on one task; a failure, also an earlier one, is raised in one wait only."""
        if self._failures:
            raise self._failures.pop(next(iter(self._failures)))
        task, self._loop = asyncio.current_task(), asyncio.get_running_loop()
        assert task is not None
        self._waiting.append(task)
        try:
            yield
        except asyncio.CancelledError:
            error = self._raising.pop(task, None)
            if error is None or task.uncancel() > 0:  # cancelled from outside as well
                raise
            raise error from None
        finally:
            self._raising.pop(task, None)
            self._waiting.remove(task)

    def set_failure(self, child: str, error: PieError | None) -> None:
        """On any thread. None withdraws the failure of the child, unless a wait has raised it."""
        if error is None:
            self._failures.pop(child, None)
            return
        self._failures[child] = error
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._interrupt)

    def _interrupt(self) -> None:
        idle = [task for task in self._waiting if task not in self._raising]
        for task in idle[: len(self._failures)]:
            self._raising[task] = self._failures.pop(next(iter(self._failures)))
            task.cancel()
