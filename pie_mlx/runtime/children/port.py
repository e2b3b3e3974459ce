"""The children of one process, as the engine asks about them."""

import asyncio
from dataclasses import dataclass

from pie_mlx.calls import ChildOutcome
from pie_mlx.runtime.children.household import Household
from pie_mlx.runtime.execution.loops import on_loop


@dataclass(frozen=True, slots=True)
class ProcessChildren:
    """A `ChildrenPort`. The household belongs to `loop`."""

    household: Household
    loop: asyncio.AbstractEventLoop
    process: str

    async def launch(self, program: str, input: str) -> str:
        return await on_loop(self.loop, self.household.launch(self.process, program, input))

    async def outcome(self, child: str) -> ChildOutcome:
        return await on_loop(self.loop, self.household.outcome(self.process, child))

    async def cancel(self, child: str) -> None:
        await on_loop(self.loop, self._cancel(child))

    async def forget(self, child: str) -> None:
        await on_loop(self.loop, self._forget(child))

    async def _cancel(self, child: str) -> None:
        self.household.cancel(self.process, child)

    async def _forget(self, child: str) -> None:
        self.household.forget(self.process, child)
