"""Pages that passes are computing at this moment."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import compress, count
from operator import ne

from pie_mlx.engine.kv import WorkingToken

LOOK_SECONDS = 0.1
"""How often a pass that waits for another looks whether that one still runs."""


@dataclass(frozen=True, slots=True)
class Computing:
    """A pass of `context` over `inputs`, and when it is `over`."""

    context: int
    inputs: Sequence[WorkingToken]
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def is_worth_waiting_for(self, wanted: Sequence[WorkingToken]) -> bool:
        """Whether most of its inputs are wanted: its pages are there for others when all are computed."""
        return 2 * _common(self.inputs, wanted) >= len(self.inputs)


class Underway:
    """What passes compute, by the key of the first page: who lacks the same pages need not compute them too (K5).

    Belongs to one event loop.
    """

    def __init__(self) -> None:
        self._passes: dict[bytes, Computing] = {}

    @contextmanager
    def computing(self, key: bytes | None, context: int, inputs: Sequence[WorkingToken]) -> Generator[None, None, None]:
        """A pass computes `inputs`, which begin with the page of `key`, None for no whole page; over when left."""
        if key is None or key in self._passes:
            yield
            return
        self._passes[key] = found = Computing(context, inputs)
        try:
            yield
        finally:
            del self._passes[key]
            found.over.set()

    async def wait(self, key: bytes | None, wanted: Sequence[WorkingToken], runs: Callable[[int], bool]) -> bool:
        """Wait for the pass that computes what is `wanted`; False, at once, where none does.

        Also when its context does not run any more, as `runs` says: then it is not for others to wait until it does.
        """
        found = None if key is None else self._passes.get(key)
        if found is None or not runs(found.context) or not found.is_worth_waiting_for(wanted):
            return False
        while not found.over.is_set() and runs(found.context):
            try:
                async with asyncio.timeout(LOOK_SECONDS):
                    await found.over.wait()
            except TimeoutError:
                continue
        return True


def _common(left: Sequence[WorkingToken], right: Sequence[WorkingToken]) -> int:
    """How many leading inputs are the same."""
    length = min(len(left), len(right))
    differing = map(ne, left[:length], right[:length])
    return next(compress(count(), differing), length)
