"""Wait for coroutines in a program without an event loop of its own."""

import asyncio
import threading
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from pie_mlx.errors import InvalidArgumentError

T = TypeVar("T")


class _OwnLoop:
    """A loop that is closed with the thread it was made in."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def __del__(self) -> None:
        self.loop.close()


class _Loops(threading.local):
    """The loop of a thread, kept because futures of the engine belong to the loop of their request."""

    given: asyncio.AbstractEventLoop | None = None
    own: _OwnLoop | None = None

    def current(self) -> asyncio.AbstractEventLoop:
        if self.given is not None:
            return self.given
        if self.own is None:
            self.own = _OwnLoop()
        return self.own.loop


_loops = _Loops()


@contextmanager
def waiting_on(loop: asyncio.AbstractEventLoop) -> Generator[None, None, None]:
    """Let this thread wait on a loop whose owner may cancel its tasks."""
    _loops.given = loop
    try:
        yield
    finally:
        _loops.given = None


def wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result. Raises what it raises, and InvalidArgumentError inside a running event loop."""
    if asyncio._get_running_loop() is not None:  # pyright: ignore[reportPrivateUsage]
        coroutine.close()
        raise InvalidArgumentError(
            "the blocking SDK: an event loop is running in this thread",
            hint="inside `async def` use the asynchronous SDK",
        )
    return _loops.current().run_until_complete(coroutine)
