"""The calls that wait for models, in the order in which they came."""

import asyncio
import dataclasses
from dataclasses import dataclass

from pie_mlx.engine.models.residence import Demand
from pie_mlx.engine.models.slot import ModelSlot
from pie_mlx.errors import PieError


@dataclass(slots=True, eq=False)
class Waiting:
    """A call waits for the model of a slot."""

    demand: Demand
    slot: ModelSlot
    done: "asyncio.Future[None]"


class WaitingList:
    """On the engine's loop, but for `models`, which any thread may ask."""

    def __init__(self) -> None:
        self._all: list[Waiting] = []

    @property
    def demands(self) -> list[Demand]:
        """What they wait for."""
        return [waiting.demand for waiting in self._all]

    @property
    def models(self) -> set[str]:
        """The names of the models that are waited for."""
        return {demand.model for demand in self.demands}

    def add(self, slot: ModelSlot, process: str, now: float) -> Waiting:
        """A call of a process waits from now on."""
        drafter = slot.drafter.name if slot.drafter else ""
        demand = Demand(slot.name, process, slot.size_bytes, now, drafter)
        waiting = Waiting(demand, slot, asyncio.get_running_loop().create_future())
        self._all.append(waiting)
        return waiting

    def remove(self, waiting: Waiting) -> bool:
        """It waits no longer; whether it did until now."""
        if waiting not in self._all:
            return False
        self._all.remove(waiting)
        return True

    def resize(self, slot: ModelSlot) -> None:
        """Its model turned out to take as much memory as its slot now says."""
        for waiting in self._all:
            if waiting.slot is slot:
                waiting.demand = dataclasses.replace(waiting.demand, size_bytes=slot.size_bytes)

    def answer(self, model: str, error: PieError | None, only: Demand | None = None) -> None:
        """Tell those who wait for a model that it is there, or why it is not."""
        for waiting in list(self._all):
            if waiting.demand.model != model or (only is not None and waiting.demand is not only):
                continue
            self._all.remove(waiting)
            if waiting.done.done():
                continue
            if error is None:
                waiting.slot.begin(waiting.demand.process)
                waiting.done.set_result(None)
            else:
                waiting.done.set_exception(type(error)(error.message, hint=error.hint))
