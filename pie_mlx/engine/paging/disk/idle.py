"""Saves what is in memory once an engine has been idle for a while."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

IDLE_SECONDS = 10.0
"""What is saved costs the next prompt no time when it takes the place of it, and survives a kill. Each page is written
once, so that soon is not more often."""


async def save_when_idle(
    ticks: Callable[[], int],
    save: Callable[[Callable[[], bool]], Awaitable[None]],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Until it is cancelled: `save` after each idle time in which there were no more `ticks`, once, for as long as
    there are none."""
    saved = 0
    while True:
        before = ticks()
        await sleep(IDLE_SECONDS)
        if before == ticks() != saved:
            saved = before
            await save(partial(_is_idle, ticks, before))


def _is_idle(ticks: Callable[[], int], before: int) -> bool:
    return ticks() == before
