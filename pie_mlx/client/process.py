"""A client's handle of a process on a server."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Protocol

from pie_mlx.client import frames
from pie_mlx.errors import PieError, ProcessError, ProtocolError
from pie_mlx.events import ProcessEvent, ProcessFailed, ProcessFile, ProcessMessage, ProcessOutput, ProcessReturned

Delivery = tuple[ProcessEvent, bytes] | PieError
"""An event, with the contents of a file; or the reason for the end of the events."""


class ProcessControl(Protocol):
    """The commands of a client about a process."""

    async def signal(self, process_id: str, message: str) -> None: ...

    async def close_session(self, process_id: str) -> None: ...

    async def send_file(self, process_id: str, data: bytes) -> None: ...

    async def terminate(self, process_id: str) -> None: ...

    async def detach(self, process_id: str) -> None: ...


@dataclass(slots=True, eq=False)
class RemoteProcess:
    """Events come in order; the last one is the outcome."""

    id: str
    _client: ProcessControl
    _events: "asyncio.Queue[Delivery]"
    _terminal: ProcessReturned | ProcessFailed | None = None

    async def events(self) -> AsyncIterator[tuple[ProcessEvent, bytes]]:
        """All events to the last one. Raises SessionClosedError when the connection ends first, or it is detached."""
        while self._terminal is None:
            delivery = await self._events.get()
            if isinstance(delivery, PieError):
                self._events.put_nowait(delivery)
                raise delivery
            if isinstance(delivery[0], ProcessReturned | ProcessFailed):
                self._terminal = delivery[0]
            yield delivery

    async def result(self) -> Any:
        """Its return value, decoded from JSON; earlier events are dropped. Raises ProcessError when it failed."""
        async for _ in self.events():
            pass
        match self._terminal:
            case ProcessReturned(value=value, format="json"):
                return json.loads(value)
            case ProcessReturned(value=value, format="text"):
                return value
            case ProcessFailed(message=message, error_type=error_type):
                raise ProcessError(f"{error_type}: {message}")
            case _:
                return None

    async def send(self, message: str) -> None:
        """Queue a message for `session.receive`."""
        await self._client.signal(self.id, message)

    async def send_file(self, data: bytes) -> None:
        """Queue a file for `session.receive_file`."""
        await self._client.send_file(self.id, data)

    async def close_session(self) -> None:
        """Announce that no more messages follow: after the last one the program gets SessionClosedError."""
        await self._client.close_session(self.id)

    async def terminate(self) -> None:
        """End it. Raises ProcessError when it has ended already."""
        await self._client.terminate(self.id)

    async def detach(self) -> None:
        """Leave it running; its output is kept."""
        await self._client.detach(self.id)


def as_event(frame: frames.ProcessEvent) -> ProcessEvent:
    """The event of a frame. Raises ProtocolError for an event this version does not know."""
    process, value = frame.process_id, frame.value
    kind = "json" if frame.format == "json" else "text"
    match frame.event:
        case "stdout" | "stderr" as stream:
            return ProcessOutput(process, stream, value)
        case "message":
            return ProcessMessage(process, value, kind)
        case "return":
            return ProcessReturned(process, value, "none" if frame.format == "none" else kind)
        case "error":
            return ProcessFailed(process, frame.error_type, value, frame.hint)
        case other:
            raise ProtocolError(f"event {other!r} of the server is unknown", hint="update pie-mlx")


@dataclass(slots=True)
class Download:
    """A file that arrives in chunks."""

    chunks: list[bytes]

    def add_chunk(self, frame: frames.File) -> tuple[ProcessFile, bytes] | None:
        """The file, once it is complete."""
        self.chunks.append(frame.chunk_data)
        if len(self.chunks) < frame.total_chunks:
            return None
        data = b"".join(self.chunks)
        return ProcessFile(frame.process_id, frame.name, len(data)), data
