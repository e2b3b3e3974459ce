"""How a process talks to whoever launched it."""

from typing import Literal, Protocol


class SessionPort(Protocol):
    """The client's end of a session. Methods are called on the engine's loop and must not block it.

    `receive` and `receive_file` wait without limit and may be cancelled; they raise SessionClosedError when nobody can
    ever answer.
    """

    def message(self, text: str, format: Literal["text", "json"]) -> None: ...

    def file(self, data: bytes, name: str) -> None: ...

    async def receive(self) -> str: ...

    async def receive_file(self) -> bytes: ...
