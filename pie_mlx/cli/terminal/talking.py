"""What is typed while a program runs."""

import asyncio
import os
import sys
import threading
from typing import Protocol


class Talking(Protocol):
    """A process that is sent messages."""

    async def send(self, message: str) -> None: ...

    async def close_session(self) -> None: ...


async def talk(process: Talking) -> None:
    """Send the lines that are typed, until there will be no more; none where nobody is there to type."""
    if is_at_terminal():
        lines = typed_lines()
        while (line := await lines.get()) is not None:
            await process.send(line)
    await process.close_session()


def typed_lines() -> "asyncio.Queue[str | None]":
    """Read by a thread, because nothing can wait for a terminal and a socket alike on every system; None is the end."""
    loop = asyncio.get_running_loop()
    lines: asyncio.Queue[str | None] = asyncio.Queue()

    def read() -> None:
        try:
            for line in sys.stdin:
                loop.call_soon_threadsafe(lines.put_nowait, line.rstrip("\n"))
            loop.call_soon_threadsafe(lines.put_nowait, None)
        except (OSError, RuntimeError, ValueError):  # there is no input, or the command has ended meanwhile
            return

    threading.Thread(target=read, name="pie-stdin", daemon=True).start()
    return lines


def is_at_terminal() -> bool:
    """Whether a person may type: a pipe may be a script's, and a command in the background is stopped if it reads."""
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False
