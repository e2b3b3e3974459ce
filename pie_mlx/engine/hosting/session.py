"""How a process talks to the client that launched it."""

from typing import Literal, Protocol


class SessionPort(Protocol):
    """The client's end of a session. Methods are called on the engine's loop and must not block it.

    `wait` waits without limit for a message or a file and may be cancelled; it raises SessionClosedError when no
    client can ever send one.
    """

    def message(self, text: str, format: Literal["text", "json"]) -> None: ...

    def file(self, data: bytes, name: str) -> None: ...

    async def wait(self, what: Literal["message", "file"]) -> None: ...

    def take_message(self) -> str | None: ...

    def take_file(self) -> bytes | None: ...
