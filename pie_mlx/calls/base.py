"""The base of calls and replies, and the host that carries them."""

from typing import Any, Generic, Protocol, TypeVar

import msgspec

Reply = TypeVar("Reply")
T = TypeVar("T")

Brle = list[int]
"""Run lengths of a mask, alternating, the first run False (F13). Empty means "no restriction" for logit masks."""


def snake_case(class_name: str) -> str:
    return "".join("_" + c.lower() if c.isupper() else c for c in class_name).lstrip("_")


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """A value inside calls and replies."""


class Call(msgspec.Struct, Generic[Reply], frozen=True, omit_defaults=True, tag=snake_case, tag_field="call"):
    """A message to the engine, answered by a `Reply` or by a PieError."""


class Host(Protocol):
    """The engine as an inferlet sees it.

    `call` blocks until the reply arrives and serves the synchronous part of the API; `submit` serves calls that may
    take ticks; both raise the engine's PieError. `post` does not wait, and its errors are dropped. Calls that name one
    context take effect in the order in which they were made (P3), and posted ones before everything sent later.
    """

    def call(self, message: Call[T]) -> T: ...

    async def submit(self, message: Call[T]) -> T: ...

    def post(self, message: Call[Any]) -> None: ...
