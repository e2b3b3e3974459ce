"""The table of handlers.

A handler takes the services of a model, the calling process and the call, and answers or raises a PieError; it runs on
the engine's loop and must not block it. A call that raises leaves everything as it was (E3). Where no model is
concerned, it takes the process and the call alone.

A lookup takes the services of a model and the call. What it answers depends on the model alone, so any thread may ask.
A long one is found away from the engine's loop, in steps between which others have their turn and it may be given up.
"""

from collections.abc import Awaitable, Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeVar, cast

from pie_mlx.calls import Call
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.steps import all_steps

C = TypeVar("C", bound=Call[Any])
Handler = Callable[[Services, HostedProcess, C], Awaitable[Any]]
ProcessHandler = Callable[[HostedProcess, C], Awaitable[Any]]
Steps = Generator[object, None, Any]
"""Returns the answer."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """`is_long` tells whether the engine's loop would stand still meanwhile."""

    steps: Callable[[Services, Any], Steps]
    is_long: Callable[[Any], bool]

    def find(self, services: Services, call: Call[Any]) -> Any:
        """All steps, here and now."""
        return all_steps(self.steps(services, call))


handlers: dict[type[Call[Any]], Handler[Any]] = {}
process_handlers: dict[type[Call[Any]], ProcessHandler[Any]] = {}
lookups: dict[type[Call[Any]], Lookup] = {}


def answers(call: type[C]) -> Callable[[Handler[C]], Handler[C]]:
    """Register the handler of one kind of call."""

    def register(handler: Handler[C]) -> Handler[C]:
        handlers[cast("type[Call[Any]]", call)] = handler
        return handler

    return register


def answers_alone(call: type[C]) -> Callable[[ProcessHandler[C]], ProcessHandler[C]]:
    """Register the handler of a kind of call that concerns no model."""

    def register(handler: ProcessHandler[C]) -> ProcessHandler[C]:
        process_handlers[cast("type[Call[Any]]", call)] = handler
        return handler

    return register


def looks_up(
    call: type[C], is_long: Callable[[C], bool] = lambda call: False
) -> Callable[[Callable[[Services, C], Any]], Callable[[Services, C], Any]]:
    """Register the lookup of one kind of call, which takes a single step."""

    def register(find: Callable[[Services, C], Any]) -> Callable[[Services, C], Any]:
        def steps(services: Services, call: C) -> Steps:
            return find(services, call)
            yield

        lookups[cast("type[Call[Any]]", call)] = Lookup(steps, is_long)
        return find

    return register


def looks_up_in_steps(
    call: type[C], is_long: Callable[[C], bool]
) -> Callable[[Callable[[Services, C], Steps]], Callable[[Services, C], Steps]]:
    """Register the lookup of one kind of call, which takes several."""

    def register(steps: Callable[[Services, C], Steps]) -> Callable[[Services, C], Steps]:
        lookups[cast("type[Call[Any]]", call)] = Lookup(steps, is_long)
        return steps

    return register
