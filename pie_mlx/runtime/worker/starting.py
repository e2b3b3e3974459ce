"""Whose worker starts next."""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Collection
from typing import Protocol

LONGEST_START_SECONDS = 1.0
"""A worker from which nothing was heard for so long counts as started: its program may have nothing to say."""

ALONE = 4
"""Starts at once for each processor, while one user alone has programs: there is always one that need not wait."""


class Starter(Protocol):
    """A launch; `begin` gives it a worker, or fails it. `begun` is called once it has started."""

    username: str

    def begin(self) -> None: ...

    def begun(self) -> None: ...


class StartGate:
    """Lets few launches of a user start at once, and users in turn.

    A start forks, confines itself and imports a program: as much processor time as hundreds of decode steps. So while
    several users have programs, the starts of one take half of the processors at most. `users` are those who have
    workers. Belongs to `loop`.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, users: Callable[[], Collection[str]], processors: int | None = None
    ) -> None:
        self._loop, self._users = loop, users
        self._processors = processors or os.cpu_count() or 1
        self._waiting: dict[str, deque[Starter]] = {}
        """By user; who had a start last comes last."""
        self._starting: dict[Starter, asyncio.TimerHandle] = {}

    def enter(self, launch: Starter) -> None:
        """Begin a launch when it is its turn."""
        self._waiting.setdefault(launch.username, deque()).append(launch)
        self._admit()

    def started(self, launch: Starter) -> None:
        """A launch has started, or failed to. Ignored if it was known to have."""
        if (timer := self._starting.pop(launch, None)) is not None:
            timer.cancel()
            launch.begun()
            self._loop.call_soon(self._admit)  # later: it may have failed at once, and so may all others

    def withdraw(self, launch: Starter) -> bool:
        """A launch is given up; False if it has begun already."""
        queue = self._waiting.get(launch.username, deque())
        if launch not in queue:
            return False
        queue.remove(launch)
        return True

    def close(self) -> None:
        """Begin all that wait, so that they fail."""
        queues, self._waiting = self._waiting, {}
        for launch in [launch for queue in queues.values() for launch in queue]:
            launch.begin()

    def _admit(self) -> None:
        begun = True
        while begun:
            begun = False
            for user in list(self._waiting):
                begun = self._begin_next(user) or begun

    def _begin_next(self, user: str) -> bool:
        queue = self._waiting.get(user)
        if not queue:
            self._waiting.pop(user, None)
            return False
        if sum(launch.username == user for launch in self._starting) >= self._most(user):
            return False
        launch = queue.popleft()
        del self._waiting[user]
        if queue:
            self._waiting[user] = queue
        self._starting[launch] = self._loop.call_later(LONGEST_START_SECONDS, self.started, launch)
        launch.begin()
        return True

    def _most(self, user: str) -> int:
        others = {*self._users(), *self._waiting, *(launch.username for launch in self._starting)} - {user}
        return max(1, self._processors // 2) if others else ALONE * self._processors
