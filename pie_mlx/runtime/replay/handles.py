"""The numbers of contexts and other handles, as a program that went on from a recording knows them."""

from typing import Any, Literal

import msgspec

from pie_mlx import calls
from pie_mlx.calls import Call

Kind = Literal["context", "matcher", "adapter", "subscription"]

_LIVE = 1 << 40
"""Added to the engine's own numbers, so that none is one of the recording."""
_UNKNOWN = -(1 << 40)
"""A number that no handle has."""


class Handles:
    """What the engine calls the handles of a program.

    A program keeps the numbers that the recording gave it; those that it gets from the engine are larger. It
    chooses numbers below 0 itself, which the engine uses as they are.
    """

    def __init__(self) -> None:
        self._engines: dict[tuple[Kind, int], int] = {}

    def made(self, kind: Kind, number: int, engines: int) -> None:
        """The engine has made its own `engines` for what the recording calls `number`."""
        self._engines[kind, number] = engines

    def released(self, kind: Kind, number: int) -> None:
        self._engines.pop((kind, number), None)

    def of(self, kind: Kind, number: int) -> int:
        """The engine's number."""
        if number >= _LIVE:
            return number - _LIVE
        return self._engines.get((kind, number), number if number <= 0 else _UNKNOWN)

    def to_engine(self, message: Call[Any]) -> Call[Any]:
        """The call with the engine's numbers."""
        changed: dict[str, Any] = {}
        for kind in ("context", "matcher", "adapter", "subscription"):
            number = getattr(message, kind, None)
            if isinstance(number, int):
                changed[kind] = self.of(kind, number)
        if isinstance(message, calls.Forward):
            changed["matchers"] = [self.of("matcher", number) for number in message.matchers]
            changed["others"] = [self._other(one) for one in message.others]
        return msgspec.structs.replace(message, **changed) if changed else message

    def _other(self, other: calls.OtherContext) -> calls.OtherContext:
        context, adapter = self.of("context", other.context), self.of("adapter", other.adapter)
        return msgspec.structs.replace(other, context=context, adapter=adapter)


def to_program(message: Call[Any], reply: Any) -> Any:
    """The engine's reply with numbers that none of the recording has."""
    match reply:
        case calls.ContextState():
            return msgspec.structs.replace(reply, context=reply.context + _LIVE)
        case calls.OpenedSnapshot():
            return msgspec.structs.replace(reply, state=to_program(message, reply.state))
        case calls.MatcherState() if reply.matcher > 0:
            return msgspec.structs.replace(reply, matcher=reply.matcher + _LIVE)
        case calls.AdapterState():
            return msgspec.structs.replace(reply, adapter=reply.adapter + _LIVE)
        case int() if isinstance(message, calls.Subscribe):
            return reply + _LIVE
        case _:
            return reply
