"""Waiting for coroutines without an event loop of the program's own."""

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from pie_mlx.errors import InvalidArgumentError

T = TypeVar("T")


class _Loops(threading.local):
    """One loop per thread, kept because futures of the engine belong to the loop they were asked on."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def __del__(self) -> None:
        self.loop.close()


_loops = _Loops()


def wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result. Raises what it raises, and InvalidArgumentError inside a running event loop."""
    if asyncio._get_running_loop() is not None:  # pyright: ignore[reportPrivateUsage]
        coroutine.close()
        raise InvalidArgumentError(
            "the blocking SDK: an event loop is running in this thread",
            hint="inside `async def` use the asynchronous SDK",
        )
    return _loops.loop.run_until_complete(coroutine)
