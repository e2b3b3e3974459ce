"""The table of handlers by kind of frame."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from pie_mlx.server.frames import Frame
from pie_mlx.server.session.connection import Connection, Handler

F = TypeVar("F", bound=Frame)
Handles = Callable[[Connection, F], Awaitable[str | None]]

handlers: dict[type, Handler] = {}


def handles(kind: type[F]) -> Callable[[Handles[F]], Handles[F]]:
    """Register the handler of one kind of frame."""

    def register(handler: Handles[F]) -> Handles[F]:
        handlers[kind] = handler
        return handler

    return register
