"""Contexts that want guesses at the same time: one step serves them all."""

import asyncio
import time
from collections.abc import Collection


class Company:
    """Who asked together the last time, and is waited for a moment."""

    def __init__(self) -> None:
        self._expected: set[int] = set()
        self._changed = asyncio.Event()

    def expect(self, contexts: set[int]) -> None:
        """These are likely to ask again together."""
        self._expected = contexts

    def joined(self) -> None:
        """Another one asks."""
        self._changed.set()

    def decline(self, context: int) -> None:
        """The context goes on without guesses this time: the others need not wait for it."""
        self._expected.discard(context)
        self._changed.set()

    async def gather(self, present: Collection[int], seconds: float) -> None:
        """Wait, `seconds` at most, until all that are expected are among those `present`."""
        limit = time.perf_counter() + seconds
        while self._expected - set(present) and (left := limit - time.perf_counter()) > 0:
            self._changed.clear()
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
            except TimeoutError:
                return
