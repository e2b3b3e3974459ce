"""The table of handlers.

A handler takes the engine's services, the calling process and the call, and answers or raises a PieError; it runs on
the engine's loop and must not block it. A call that raises leaves everything as it was (E3).
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, cast

from pie_mlx.calls import Call
from pie_mlx.engine.process import Process
from pie_mlx.engine.services import Services

C = TypeVar("C", bound=Call[Any])
Answerer = Callable[[Services, Process, Any], Awaitable[Any]]

handlers: dict[type[Call[Any]], Answerer] = {}


def answers(
    call: type[C],
) -> Callable[[Callable[[Services, Process, C], Awaitable[Any]]], Callable[[Services, Process, C], Awaitable[Any]]]:
    """Register the handler of one kind of call."""

    def register(
        handler: Callable[[Services, Process, C], Awaitable[Any]],
    ) -> Callable[[Services, Process, C], Awaitable[Any]]:
        handlers[cast("type[Call[Any]]", call)] = handler
        return handler

    return register
