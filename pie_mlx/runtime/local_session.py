"""A session whose client is in the same process."""

from typing import Literal

from pie_mlx.errors import SessionClosedError
from pie_mlx.runtime.mailbox import Mailbox
from pie_mlx.runtime.outlet import Outlet


class LocalSession:
    """What the client sends waits in mailboxes; what the program sends goes to the outlet."""

    def __init__(self, outlet: Outlet) -> None:
        self._outlet = outlet
        self.messages: Mailbox[str] = Mailbox()
        self.files: Mailbox[bytes] = Mailbox()

    def message(self, text: str, format: Literal["text", "json"]) -> None:
        self._outlet.message(text, format)

    def file(self, data: bytes, name: str) -> None:
        self._outlet.file(data, name)

    async def wait(self, what: Literal["message", "file"]) -> None:
        await (self.messages if what == "message" else self.files).wait()

    def take_message(self) -> str | None:
        return self.messages.take()

    def take_file(self) -> bytes | None:
        return self.files.take()

    def close(self) -> None:
        """The client will send nothing more."""
        reason = "session: the client sends nothing more"
        hint = "use send() of launch(), or type at a 'pie run': nothing that is piped into it is sent"
        self.messages.close(SessionClosedError(reason, hint=hint))
        self.files.close(SessionClosedError(reason, hint=hint))
