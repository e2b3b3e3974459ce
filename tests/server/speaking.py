"""A client that says exactly what a test wants."""

import asyncio
import itertools
import json
from contextlib import suppress

import msgspec
from blake3 import blake3
from websockets.asyncio.client import connect, unix_connect
from websockets.exceptions import ConnectionClosed

from pie_mlx.server.session.outbox import CHUNK_BYTES


async def hang_up(writer):
    """Close a connection whatever the other side does, and leave nothing of it to the garbage collector."""
    if writer.transport.get_write_buffer_size():
        writer.transport.abort()  # a close waits until the other side has read it all, which may never be
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()


class Speaker:
    """One websocket. Frames that are no responses wait in `others`."""

    def __init__(self, socket):
        self.socket = socket
        self.numbers = itertools.count(1)
        self.others = []
        self.responses = {}

    async def send(self, **frame):
        await self.socket.send(msgspec.msgpack.encode(frame))

    async def begin(self, type, **fields):
        """Sends a request and answers its number."""
        number = next(self.numbers)
        await self.send(type=type, corr_id=number, **fields)
        return number

    async def ask(self, type, **fields):
        """The response to a request: ok, and the result."""
        return await self.answer(await self.begin(type, **fields))

    async def answer(self, number):
        while number not in self.responses:
            await self._next()
        return self.responses.pop(number)

    async def json(self, type, **fields):
        ok, result = await self.ask(type, **fields)
        assert ok, result
        return json.loads(result)

    async def query(self, subject, record=""):
        return await self.json(
            "query", subject=subject, record=record if isinstance(record, str) else json.dumps(record)
        )

    async def launch(self, input, inferlet="player", **fields):
        ok, result = await self.ask("launch_process", inferlet=inferlet, input=json.dumps(input), **fields)
        assert ok, result
        return result

    async def event(self, process=None):
        """The next frame that is no response."""
        while True:
            for place, frame in enumerate(self.others):
                if process is None or frame.get("process_id") == process:
                    return self.others.pop(place)
            await self._next()

    async def events(self, process):
        """Frames of a process until its last."""
        found = []
        while not found or found[-1].get("event") not in ("return", "error"):
            found.append(await self.event(process))
        return found

    async def upload(self, payload, manifest, *, chunk_bytes=CHUNK_BYTES, force=False, **changes):
        """Sends all chunks of a program, then answers the response."""
        number = next(self.numbers)
        chunks = [payload[start : start + chunk_bytes] for start in range(0, len(payload), chunk_bytes)] or [b""]
        for index, chunk in enumerate(chunks):
            frame = {
                "program_hash": blake3(payload).hexdigest(),
                "manifest": manifest,
                "force_overwrite": force,
                "chunk_index": index,
                "total_chunks": len(chunks),
                "chunk_data": chunk,
            }
            await self.send(type="add_program", corr_id=number, **{**frame, **changes})
        return await self.answer(number)

    async def closed(self):
        """The code and the reason of the close."""
        try:
            while True:
                await self._next()
        except ConnectionClosed as error:
            return error.rcvd.code, error.rcvd.reason

    async def close(self):
        await self.socket.close()

    async def __aenter__(self):
        return self

    async def __aexit__(self, *error):
        await self.close()

    async def _next(self):
        frame = msgspec.msgpack.decode(await asyncio.wait_for(self.socket.recv(), 20))
        if frame["type"] == "response":
            self.responses[frame["corr_id"]] = (frame["ok"], frame["result"])
        else:
            self.others.append(frame)


async def speak(server, user=None, *, unix=False, **options):
    options = {"compression": None, "max_size": 1 << 20, **options}
    socket = await (unix_connect(server.server.socket_path, **options) if unix else connect(server.url, **options))
    speaker = Speaker(socket)
    if user is not None:
        assert (await speaker.ask("auth_identify", username=user))[0]
    return speaker
