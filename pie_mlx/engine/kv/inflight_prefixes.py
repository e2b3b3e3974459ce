"""In-flight prefixes: pages that passes are computing now, so that an equal prompt can wait for them."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import compress, count
from operator import ne

from pie_mlx.engine.kv import WorkingToken

LOOK_SECONDS = 0.1
"""How often a waiting pass checks whether the computing pass still runs."""


@dataclass(frozen=True, slots=True)
class Computing:
    """A pass of `context` over `inputs`. `over` is set when it ends."""

    context: int
    inputs: Sequence[WorkingToken]
    over: asyncio.Event = field(default_factory=asyncio.Event)

    def is_worth_waiting_for(self, wanted: Sequence[WorkingToken]) -> bool:
        """Whether at least half of its inputs are needed: others can use its pages only once it has computed all of
        them."""
        return 2 * _common(self.inputs, wanted) >= len(self.inputs)


class InflightPrefixes:
    """Running passes by the key of the first page that each computes (K5).

    Belongs to one event loop.
    """

    def __init__(self) -> None:
        self._passes: dict[bytes, Computing] = {}

    @contextmanager
    def computing(self, key: bytes | None, context: int, inputs: Sequence[WorkingToken]) -> Generator[None, None, None]:
        """Marks a pass as computing `inputs` until the block ends. `key` is the key of their first page, None if they
        fill no page."""
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
        """Waits until the pass that computes `wanted` ends. Returns False at once if there is none.

        The wait also ends when that pass's context stops running, as `runs` reports: a suspended context may return
        much later.
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
    """The number of equal leading inputs."""
    length = min(len(left), len(right))
    differing = map(ne, left[:length], right[:length])
    return next(compress(count(), differing), length)
