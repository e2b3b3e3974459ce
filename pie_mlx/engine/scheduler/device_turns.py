"""Which of several models the device computes next, and for how long."""

import asyncio
import math
import time
from collections.abc import Callable

TURN_SECONDS = 0.03
"""A turn ends once its model has used so much more time than one that waits: two frames of a screen. A model that had
nothing to compute returns with a lead of no more than this."""

LARGEST_RATIO = 8.0
"""The largest share of the device's time, relative to the smallest, however much more the programs of a model bid."""


class DeviceTurns:
    """Gives the device to models in turn, so that each gets its share of the time (X2). All on one loop.

    Of n models none waits longer than n - 1 times the sum of three `TURN_SECONDS`, `LARGEST_RATIO` of its own batches
    and one batch of another model. A step after a batch counts as one. `clock` is monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._holder: object = None
        self._since, self._end = 0.0, math.inf
        self._used: dict[object, float] = {}
        """Device seconds of each model, divided by its weight."""
        self._all_used = 0.0
        """The least that any model with work had used, which never falls."""
        self._worths: dict[object, float | None] = {}
        """What the work is worth, of the model that has the device and of those that wait."""
        self._waiting: dict[object, asyncio.Future[None]] = {}

    @property
    def is_over(self) -> bool:
        """Whether another model waits that is to have the device now. Any thread may ask."""
        return self._clock() >= self._end

    async def take(self, model: object, worth: float | None) -> bool:
        """Wait until the device is to compute a batch of a model, whose turn ends with `give`; whether another one had
        the device first.

        Its work is `worth` so many credits per page and tick; None gets the largest share.
        """
        self._charge()
        if model not in self._worths:
            self._used[model] = max(self._used.get(model, 0.0), self._all_used - TURN_SECONDS)
        self._worths[model] = worth
        if self._goes_on(model):
            self._holder = model
            self._limit()
            return False
        granted = self._waiting[model] = asyncio.get_running_loop().create_future()
        if self._holder is model:
            self._holder = None
        self._grant()
        try:
            await granted
        except asyncio.CancelledError:
            self._waiting.pop(model, None)
            self.give(model)
            raise
        return True

    def give(self, model: object) -> None:
        """The turn of a model is over, if it is its turn: it has nothing to compute now."""
        self._charge()
        self._worths.pop(model, None)
        if self._holder is model:
            self._holder = None
        self._grant()

    def leave(self, model: object) -> None:
        """A model is gone."""
        self.give(model)
        self._used.pop(model, None)

    def _goes_on(self, model: object) -> bool:
        if self._holder is None:
            return not self._waiting
        return self._holder is model and self._used[model] < self._least() + TURN_SECONDS

    def _least(self) -> float:
        return min([self._used[model] for model in self._waiting], default=math.inf)

    def _charge(self) -> None:
        now = self._clock()
        if self._holder is not None:
            self._used[self._holder] += (now - self._since) / self._weight(self._holder)
            self._all_used = max(self._all_used, min([self._used[model] for model in self._worths]))
        self._since = now

    def _weight(self, model: object) -> float:
        """Its share of the time, relative to the largest one."""
        worth, largest = self._worths[model], max([worth or 0.0 for worth in self._worths.values()])
        return 1.0 if worth is None or not largest else max(worth / largest, 1 / LARGEST_RATIO)

    def _grant(self) -> None:
        if self._holder is None and self._waiting:
            self._holder = min(self._waiting, key=self._used.__getitem__)
            granted = self._waiting.pop(self._holder)
            if not granted.done():
                granted.set_result(None)
        self._limit()

    def _limit(self) -> None:
        """Set the end of the present turn; the time until now is charged already."""
        self._end = math.inf
        if self._holder is not None and self._waiting:
            left = self._least() + TURN_SECONDS - self._used[self._holder]
            self._end = self._since + left * self._weight(self._holder)
