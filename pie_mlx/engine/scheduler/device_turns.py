"""Which of several models the device computes next."""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

LARGEST_RATIO = 8.0
"""How much more than another model one may count for, however much more its programs bid."""


@dataclass(slots=True, eq=False)
class TurnRequest:
    """A model has work that is `worth` so many credits per page and tick, and was `passed` over so often since its last
    turn."""

    worth: float
    passed: int
    granted: "asyncio.Future[None]"


def next_turn(requests: Iterable[TurnRequest]) -> TurnRequest:
    """The request whose work is worth most; each time that a model is passed over its work counts for that much more
    (X2). The one that waits longest, of equal ones.

    Of n models that always have work none is passed over more than `LARGEST_RATIO` * (n - 1) times in a row.
    """
    found = list(requests)
    least = max(request.worth for request in found) / LARGEST_RATIO
    return max(found, key=lambda request: max(request.worth, least) * (1 + request.passed) or request.passed)


class DeviceTurns:
    """Gives the device to the schedulers of the models in turn, for a batch each. All on one loop."""

    def __init__(self) -> None:
        self._holder: object = None
        self._requests: dict[object, TurnRequest] = {}
        self._passed: dict[object, int] = {}

    @property
    def is_wanted(self) -> bool:
        """Whether another model waits for the one whose turn it is. Any thread may ask."""
        return bool(self._requests)

    async def take(self, model: object, worth: float) -> bool:
        """Wait for the next turn of a model, which ends with `give`; whether another one had the device first."""
        self.give(model)
        if self._holder is None and not self._requests:
            self._holder = model
            return False
        request = TurnRequest(worth, self._passed.get(model, 0), asyncio.get_running_loop().create_future())
        self._requests[model] = request
        self._grant()
        try:
            await request.granted
        except asyncio.CancelledError:
            self._requests.pop(model, None)
            self.give(model)
            raise
        return True

    def give(self, model: object) -> None:
        """The turn of a model is over, if it is its turn."""
        if self._holder is model:
            self._holder = None
            self._grant()

    def leave(self, model: object) -> None:
        """A model is gone."""
        self.give(model)
        self._passed.pop(model, None)

    def _grant(self) -> None:
        if self._holder is not None or not self._requests:
            return
        chosen = next_turn(self._requests.values())
        for model, request in list(self._requests.items()):
            if request is not chosen:
                self._passed[model] = request.passed = request.passed + 1
                continue
            del self._requests[model]
            self._holder, self._passed[model] = model, 0
            if not request.granted.done():
                request.granted.set_result(None)
