"""What is piped into a command, or typed while a program runs."""

import asyncio
import os
import stat
import sys
import threading
from typing import Protocol
from weakref import WeakKeyDictionary

import click

_lines: "WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Queue[str | None]]" = WeakKeyDictionary()


def piped_text() -> str:
    """Everything that is piped in. Raises UsageError where it is not UTF-8."""
    try:
        text = sys.stdin.read()
        text.encode()  # without an encoding in the locale, invalid bytes are read as lone surrogates
    except UnicodeError:
        raise click.UsageError("the piped input is not UTF-8 text: convert it first, for example with iconv") from None
    return text


def is_piped() -> bool:
    """Whether input comes from a pipe or a file."""
    try:
        mode = os.fstat(sys.stdin.fileno()).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)


class MessageSink(Protocol):
    """A process that receives messages."""

    async def send(self, message: str) -> None: ...

    async def close_session(self) -> None: ...


async def send_typed_lines(process: MessageSink) -> None:
    """Send typed lines until the input ends; none without a terminal."""
    if is_at_terminal():
        lines = typed_lines()
        while (line := await lines.get()) is not None:
            await process.send(line)
        lines.put_nowait(None)  # for the next process
    await process.close_session()


def typed_lines() -> "asyncio.Queue[str | None]":
    """Lines of standard input, then None; the same queue for all who ask on a loop.

    A thread reads them: waiting for a terminal and a socket is not portable.
    """
    loop = asyncio.get_running_loop()
    if loop in _lines:
        return _lines[loop]
    lines = _lines[loop] = asyncio.Queue()

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
    """Whether the user can type. A pipe may belong to a script; a command in the background is stopped if it reads."""
    try:
        return sys.stdin.isatty() and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False
