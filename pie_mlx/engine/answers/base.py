"""The table of handlers.

A handler takes the engine's services, the calling process and the call, and answers or raises a PieError; it runs on
the engine's loop and must not block it. A call that raises leaves everything as it was (E3).

A lookup takes the services and the call. What it answers depends on the model alone, so any thread may ask, and a long
one is found on a thread of its own.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pie_mlx.calls import Call
from pie_mlx.engine.process import Process
from pie_mlx.engine.services import Services

C = TypeVar("C", bound=Call[Any])
Answerer = Callable[[Services, Process, Any], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Lookup:
    """`is_long` tells whether the engine's loop would stand still meanwhile."""

    find: Callable[[Services, Any], Any]
    is_long: Callable[[Any], bool]


handlers: dict[type[Call[Any]], Answerer] = {}
lookups: dict[type[Call[Any]], Lookup] = {}


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


def looks_up(
    call: type[C], is_long: Callable[[C], bool] = lambda call: False
) -> Callable[[Callable[[Services, C], Any]], Callable[[Services, C], Any]]:
    """Register the lookup of one kind of call."""

    def register(find: Callable[[Services, C], Any]) -> Callable[[Services, C], Any]:
        lookups[cast("type[Call[Any]]", call)] = Lookup(find, is_long)
        return find

    return register
