"""Saves what is in memory once an engine has been idle for a while."""

import asyncio
from collections.abc import Awaitable, Callable

IDLE_SECONDS = 600.0


async def save_when_idle(
    ticks: Callable[[], int],
    save: Callable[[], Awaitable[None]],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Until it is cancelled: `save` after each idle time in which there were no more `ticks`, once."""
    saved = 0
    while True:
        before = ticks()
        await sleep(IDLE_SECONDS)
        if before == ticks() != saved:
            saved = before
            await save()
