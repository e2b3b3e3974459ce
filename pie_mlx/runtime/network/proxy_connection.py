"""One connection of a program to its proxy."""

import asyncio
import contextlib
import hmac
import socket
import struct
import time
from collections.abc import Callable

from pie_mlx.runtime.network.egress import EgressConnector
from pie_mlx.runtime.network.rejection import Rejection
from pie_mlx.runtime.network.request_head import RequestHead, encode_head, end_to_end, parse_fields, parse_request

HEAD_BYTES = 64 << 10
"""The longest head, of a request or of an answer."""
HEAD_SECONDS = 60.0
LINGER_SECONDS = 2.0
"""How long a refused program's remaining bytes are read."""
_PIECE_BYTES = 64 << 10
_AT_ONCE = struct.pack("ii", 1, 0)
"""SO_LINGER value: close with a reset."""
_ESTABLISHED = b"HTTP/1.1 200 Connection established\r\n\r\n"


Report = Callable[[RequestHead, float, str], None]
"""Called with a request that has ended, the seconds it took, and why it failed, "" if it did not."""


def unreported(request: RequestHead, seconds: float, error: str) -> None:
    del request, seconds, error


class ProxyConnection:
    """Carries bytes between a program and a host, no faster than the slower of the two reads.

    With `authorization`, requests that present another value are refused. `report` gets each request of it.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        egress: EgressConnector,
        authorization: str,
        report: Report = unreported,
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._egress = egress
        self._authorization = authorization
        self._report = report

    async def run(self) -> None:
        """Serve the connection to its end. Raises OSError when a connection breaks."""
        request = await self._request()
        if isinstance(request, RequestHead):
            request = await self._reported(request)
        if request is not None:
            await self._reject(request)

    async def refuse(self, rejection: Rejection) -> None:
        """Refuse any request. Raises OSError when the connection breaks."""
        request = await self._request()
        if request is not None:
            await self._reject(rejection)

    async def _reject(self, rejection: Rejection) -> None:
        """Answer and read on: closing with unread bytes resets the connection, and the answer could be lost."""
        self._writer.write(rejection.encoded())
        self._writer.write_eof()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER_SECONDS):
                while await self._reader.read(_PIECE_BYTES):
                    pass

    async def _request(self) -> RequestHead | Rejection | None:
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                data = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as error:
            return Rejection(400, "the request is incomplete") if error.partial else None
        except asyncio.LimitOverrunError:
            return Rejection(431, f"the head of a request has at most {HEAD_BYTES >> 10} KiB")
        except TimeoutError:
            return Rejection(408, f"no request in {HEAD_SECONDS:g} s")
        request = parse_request(data)
        if isinstance(request, RequestHead) and not self._is_trusted(request):
            return Rejection(407, "use the address in HTTP_PROXY as it is")
        return request

    def _is_trusted(self, request: RequestHead) -> bool:
        if not self._authorization:
            return True
        return hmac.compare_digest(request.authorization.encode("latin-1"), self._authorization.encode())

    async def _reported(self, request: RequestHead) -> Rejection | None:
        began_seconds, failure = time.monotonic(), ""
        try:
            rejection = await self._carry(request)
            failure = "" if rejection is None else rejection.text
            return rejection
        except BaseException as error:
            failure = type(error).__name__
            raise
        finally:
            self._report(request, time.monotonic() - began_seconds, failure)

    async def _carry(self, request: RequestHead) -> Rejection | None:
        connected = await self._egress.connect(request.host, request.port)
        if isinstance(connected, Rejection):
            return connected
        reader, writer = connected
        try:
            if request.forward is None:
                await self._tunnel(reader, writer)
                return None
            writer.write(request.forward)
            return await self._answer(reader, writer)
        except BaseException:
            mark_broken(writer)
            raise
        finally:
            writer.transport.abort()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer.write(_ESTABLISHED)
        broken = False
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(self._reader, writer))
                group.create_task(_pump(reader, self._writer))
        except* OSError:
            broken = True
        if broken:
            raise ConnectionAbortedError("one end of the tunnel is gone")

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Rejection | None:
        """Forward a request and its answer. The end of the answer ends the connection."""
        sending = asyncio.create_task(_pump(self._reader, writer))
        try:
            head = await _answer_head(reader, self._writer)
            if isinstance(head, Rejection):
                return head
            self._writer.write(head)
            await _pump(reader, self._writer)
        finally:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)
        return None


def mark_broken(writer: asyncio.StreamWriter) -> None:
    """Close with a reset later: a normal end could be mistaken for the end of an answer."""
    if not writer.is_closing():
        connection = writer.get_extra_info("socket")
        with contextlib.suppress(OSError):  # macOS refuses it on a socket shut in both directions
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)


async def _answer_head(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bytes | Rejection:
    """The head of the final answer; interim ones, such as `100 Continue`, are forwarded."""
    while True:
        try:
            data = await reader.readuntil(b"\r\n\r\n")
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
            return Rejection(502, "the host's answer is not HTTP")
        first, *lines = data.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
        fields = parse_fields(lines)
        if fields is None or not first.startswith("HTTP/1."):
            return Rejection(502, "the host's answer is not HTTP")
        if not first.partition(" ")[2].startswith("1"):
            return encode_head(first, end_to_end(fields))
        writer.write(data)
        await writer.drain()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Copy all bytes, and then the end of the stream."""
    while data := await reader.read(_PIECE_BYTES):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()
