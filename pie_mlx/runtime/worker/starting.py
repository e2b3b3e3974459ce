"""Whose worker starts next."""

import asyncio
import os
from collections import deque
from collections.abc import Callable, Collection
from typing import Protocol

from pie_mlx.engine.hosting.engine_time import LoopShares, ShareTerms

LONGEST_START_SECONDS = 1.0
"""A worker from which nothing was heard for so long counts as started: its program may have nothing to say."""

ALONE = 4
"""Starts at once for each processor, while one user alone has programs: there is always one that need not wait."""

SHARE = 1 / 8
"""Of the processors, which the starts of a user take while others have programs, once a burst is used up."""
BURST_SECONDS, MOST_DEBT_SECONDS = 0.25, 1.0
"""Of one processor: about twenty starts; and the most that counts of what was used beyond the share."""


class Starter(Protocol):
    """A launch; `begin` gives it a worker, or fails it. `begun` is called once it has started. `process_id` is that of
    its worker, once it has one."""

    username: str
    process_id: int | None

    def begin(self) -> None: ...

    def begun(self) -> None: ...


class StartGate:
    """Lets few launches of a user start at once, and users in turn.

    A start forks, confines itself and imports a program: as much processor time as hundreds of decode steps. So while
    several users have programs, the starts of one take half of the processors at most, and its share of their time.
    `users` are those who have workers; `used` is the processor time of a worker. Belongs to `loop`.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        users: Callable[[], Collection[str]],
        used: Callable[[int], float],
        processors: int | None = None,
    ) -> None:
        self._loop, self._users, self._used = loop, users, used
        self._processors = processors or os.cpu_count() or 1
        terms = ShareTerms(SHARE * self._processors, BURST_SECONDS, MOST_DEBT_SECONDS)
        self._shares = LoopShares(self._has_others, loop.time, terms)
        self._resting: dict[str, asyncio.TimerHandle] = {}
        """Users who have used up their share, until they may start another launch."""
        self._waiting: dict[str, deque[Starter]] = {}
        """By user; who had a start last comes last."""
        self._starting: dict[Starter, asyncio.TimerHandle] = {}

    def enter(self, launch: Starter) -> None:
        """Begin a launch when it is its turn."""
        self._waiting.setdefault(launch.username, deque()).append(launch)
        self._admit()

    def started(self, launch: Starter, used_seconds: float | None = None) -> None:
        """A launch has started, or failed to; `used_seconds` is what its worker used if that has ended. Ignored if it
        was known to have."""
        if (timer := self._starting.pop(launch, None)) is not None:
            timer.cancel()
            if used_seconds is None:
                used_seconds = 0.0 if launch.process_id is None else self._used(launch.process_id)
            self._shares.charge(launch.username, used_seconds)
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
        for timer in self._resting.values():
            timer.cancel()
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
        if self._rests(user) or sum(launch.username == user for launch in self._starting) >= self._most(user):
            return False
        launch = queue.popleft()
        del self._waiting[user]
        if queue:
            self._waiting[user] = queue
        self._starting[launch] = self._loop.call_later(LONGEST_START_SECONDS, self.started, launch)
        launch.begin()
        return True

    def _rests(self, user: str) -> bool:
        """Whether it has used up its share. Then its next launch begins when others have had theirs."""
        rest_seconds = self._shares.rest_seconds(user)
        if rest_seconds and user not in self._resting:
            self._resting[user] = self._loop.call_later(rest_seconds, self._rested, user)
        return rest_seconds > 0

    def _rested(self, user: str) -> None:
        del self._resting[user]
        self._admit()

    def _most(self, user: str) -> int:
        return max(1, self._processors // 2) if self._has_others(user) else ALONE * self._processors

    def _has_others(self, user: str) -> bool:
        return bool({*self._users(), *self._waiting, *(launch.username for launch in self._starting)} - {user})
