"""Programs and clients that burn what they can get; `benchmarks.hostile` measures others beside them.

    python -m benchmarks.attackers NAME URL SECONDS

runs one of them, in a process of its own, and prints how a program ended each time.
"""

import asyncio
import contextlib
import json
import os
import sys
import textwrap
from collections.abc import Awaitable, Callable
from functools import partial

import msgspec
from blake3 import blake3
from websockets.asyncio.client import connect

from pie_mlx.client import Client
from pie_mlx.client import connect as connect_as
from pie_mlx.errors import PieError

AGAIN_SECONDS = 0.3
CHILD = "async def main(input): ..."

DECODER = """
from inferlet import Context, Model, Sampler, runtime

async def main(input):
    model = Model.load(runtime.models()[0])
    while True:
        with Context(model) as context:
            context.append(range(8))
            async for step in context.generate(Sampler.argmax(), max_tokens=100, auto_flush=False):
                await step.execute()
"""
DECODERS = (1, 4, 16, 64)
"""How many of them attack at once."""

RAW_FRAMES = """
    def write(*frames):
        '''Write raw frames until the engine hangs up.'''
        link = next(one for one in gc.get_objects() if type(one).__name__ == "WorkerHost")._socket
        encoded = [msgspec.msgpack.encode(frame) for frame in frames]
        data = memoryview(b"".join(struct.pack("<I", len(frame)) + frame for frame in encoded))
        link.setblocking(True)
        while True:
            link.sendall(data)
"""

PROGRAMS = {
    "busy loop": "while True: pass",
    "threads that hash": """
        data = bytes(1 << 20)
        def burn():
            while True: hashlib.sha256(data).digest()
        for _ in range(15): threading.Thread(target=burn, daemon=True).start()
        await asyncio.Event().wait()
    """,
    "threads that come and go": """
        while True:
            with contextlib.suppress(RuntimeError): threading.Thread(target=int).start()
    """,
    "memory": """
        while True:
            kept = []
            with contextlib.suppress(MemoryError):
                for _ in range(12): kept.append(b"x" * (32 << 20))
    """,
    "file writes": """
        data = os.urandom(8 << 20)
        while True:
            for number in range(8):
                with open(f"file{number}", "wb") as file: file.write(data); os.fsync(file.fileno())
    """,
    "files that come and go": """
        while True:
            for number in range(1000): open(f"file{number}", "w").close()
            for number in range(1000): os.remove(f"file{number}")
    """,
    "small calls": "while True: runtime.username()",
    "posted frames": 'write(*[["request", 0, {"call": "broadcast", "topic": "t", "text": "x"}]] * 1000)',
    "output frames": 'write(*[["output", "stdout", "x"]] * 1000)',
    "big frames": 'write(["request", 0, {"call": "broadcast", "topic": "t", "text": "x" * (20 << 20)}])',
    "empty lists in frames": """
        lists = [[]] * (20 << 20)
        write(["request", 0, {"call": "count_dropped", "subscription": 0, "more": lists}])
    """,
    "turns in frames": """
        turns = [{"role": "user", "text": ""}] * 1_000_000
        state = {"turns": turns}
        write(["request", 0, {"call": "render_turn", "model": runtime.models()[0], "turn": turns[0], "state": state}])
    """,
    "prints": 'while True: print("x" * 200)',
    "messages to a client": """
        while True:
            session.send("x" * 1000)
            await asyncio.sleep(0)
    """,
    "broadcasts": """
        heard = [messaging.subscribe("t") for _ in range(16)]
        while True: messaging.broadcast("t", "x" * 100_000)
    """,
    "texts to tokenise": """
        tokenizer = Model.load(runtime.models()[0]).tokenizer()
        while True:
            with contextlib.suppress(Exception): tokenizer.encode("a b" * (4 << 20))
    """,
    "children": """
        while True:
            with contextlib.suppress(Exception):
                children = [runtime.launch(runtime_child, {}) for _ in range(8)]
                for child in children: child.cancel()
            await asyncio.sleep(0)
    """,
}
"""Bodies of `async def main(input)`."""

_PREAMBLE = """
import asyncio, contextlib, gc, hashlib, os, struct, threading
import msgspec
from inferlet import Model, messaging, runtime, session
runtime_child = "child"
"""


def program_source(name: str) -> str:
    """The whole program."""
    body = textwrap.indent(textwrap.dedent(PROGRAMS[name]).strip(), "    ")
    return f"{_PREAMBLE}\n{textwrap.dedent(RAW_FRAMES)}\nasync def main(input):\n{body}\n"


async def _connections(host: str, port: int) -> None:
    held: list[asyncio.StreamWriter] = []
    while True:
        with contextlib.suppress(OSError):
            held.append((await asyncio.open_connection(host, port))[1])
        if len(held) > 200:
            for writer in held:
                writer.close()
            held.clear()


async def _handshakes(host: str, port: int) -> None:
    while True:
        with contextlib.suppress(Exception):
            async with connect(f"ws://{host}:{port}/"):
                pass


async def _pings(host: str, port: int) -> None:
    """Pings whose pongs are never read."""
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await _raw_websocket(host, port)
            reader._transport.pause_reading()  # pyright: ignore[reportPrivateUsage, reportAttributeAccessIssue]
            pings = (b"\x89\xfd\0\0\0\0" + b"x" * 125) * 100
            while True:
                writer.write(pings)
                await writer.drain()


async def _raw_websocket(host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection(host, port)
    upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13"
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
    writer.write(f"GET / HTTP/1.1\r\nHost: {host}:{port}\r\n{upgrade}\r\n{key}\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def _requests(host: str, port: int, bodies: list[bytes]) -> None:
    """POSTs to /v1, one connection each, none of whose answers is waited for."""
    while True:
        for body in bodies:
            with contextlib.suppress(OSError):
                _, writer = await asyncio.open_connection(host, port)
                head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
                writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
                await writer.drain()
                await asyncio.sleep(0.01)
                writer.close()


async def _bad_requests(host: str, port: int) -> None:
    await _requests(host, port, [b"{", b"[" * 10_000, json.dumps({"model": "x"}).encode(), b'{"a":' * 5000])


async def _long_requests(host: str, port: int) -> None:
    body = {"model": "dummy", "messages": [{"role": "user", "content": "a b" * (1 << 20)}]}
    await _requests(host, port, [json.dumps(body).encode()])


async def _uploads(host: str, port: int, payload: bytes, manifest: str) -> None:
    while True:
        with contextlib.suppress(Exception):
            async with connect(f"ws://{host}:{port}/", compression=None) as socket:
                await socket.send(
                    msgspec.msgpack.encode({"type": "auth_identify", "corr_id": 1, "username": "mallory"})
                )
                await socket.recv()
                for number in range(2, 1000):
                    frame = {
                        "type": "add_program", "corr_id": number, "program_hash": blake3(payload).hexdigest(),
                        "manifest": manifest, "force_overwrite": True, "chunk_index": 0, "total_chunks": 1,
                        "chunk_data": payload, "keep": False,
                    }  # fmt: skip
                    await socket.send(msgspec.msgpack.encode(frame))
                    await socket.recv()


async def _manifests(host: str, port: int) -> None:
    await _uploads(host, port, b"", ".".join(["a"] * 8000) + " = 1\n")


async def _sources(host: str, port: int) -> None:
    source = b"x = [" + b"1," * 400_000 + b"]\nasync def main(input): ...\n"
    await _uploads(host, port, source, '[package]\nname = "bomb"\nversion = "1.0.0"\n')


async def _launches(host: str, port: int) -> None:
    """Connects, launches, and is gone."""
    while True:
        with contextlib.suppress(Exception):
            async with connect(f"ws://{host}:{port}/", compression=None) as socket:
                launch = {"type": "launch_process", "inferlet": "text-completion", "input": '{"prompt": "hello"}'}
                for number in range(1, 9):
                    await socket.send(msgspec.msgpack.encode({**launch, "corr_id": number}))
                socket.transport.abort()


async def _returns(host: str, port: int) -> None:
    """Connects, launches programs that end at once, and is gone."""
    while True:
        with contextlib.suppress(PieError, OSError):
            async with await connect_as(f"ws://{host}:{port}", username="mallory") as client:
                name = await upload(client, "child", CHILD)
                for _ in range(8):
                    await client.launch(name, {})


async def _decoders(host: str, port: int, count: int) -> None:
    """Programs of one user, all of which do nothing but decode."""
    async with await connect_as(f"ws://{host}:{port}", username="mallory") as client:
        name = await upload(client, "decoder", DECODER)
        decoders = [await client.launch(name, {}) for _ in range(count)]
        await asyncio.gather(*(decoder.result() for decoder in decoders))


async def _loop_elsewhere(host: str, port: int) -> None:
    """Asks nothing of the engine: what any second busy process of this machine costs."""
    del host, port
    while True:
        pass


CONTROL = "a loop elsewhere"
CLIENTS: dict[str, Callable[[str, int], Awaitable[None]]] = {
    CONTROL: _loop_elsewhere,
    "connections": _connections,
    "handshakes": _handshakes,
    "pings never read": _pings,
    "bad requests": _bad_requests,
    "long requests": _long_requests,
    "manifest bombs": _manifests,
    "source bombs": _sources,
    "launches that return": _returns,
    "launches that decode": _launches,
    **{f"{count} decoders": partial(_decoders, count=count) for count in DECODERS},
}
DECODING = {"launches that decode", *(f"{count} decoders" for count in DECODERS)}
"""Those who use the model, of which each user has an equal share."""


async def _attack(name: str, url: str, seconds: float) -> None:
    host, _, port = url.removeprefix("ws://").rstrip("/").partition(":")
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await (CLIENTS[name](host, int(port)) if name in CLIENTS else _run_again_and_again(url, name))


async def upload(client: Client, name: str, source: str) -> str:
    """What to launch it by."""
    await client.install(source.encode(), f'[package]\nname = "{name}"\nversion = "1.0.0"\n', keep=False)
    return f"{name}@1.0.0"


async def _run_again_and_again(url: str, name: str) -> None:
    """A program that was ended for what it does is launched anew, on a connection of its own."""
    while True:
        try:
            async with await connect_as(url, username="mallory") as client:
                await upload(client, "child", CHILD)
                await (await client.launch(await upload(client, "attacker", program_source(name)), {})).result()
            print("returned", flush=True)
        except PieError as error:
            print(str(error).replace("\n", " "), flush=True)
        await asyncio.sleep(AGAIN_SECONDS)


def _step_back() -> None:
    """A client elsewhere takes none of this machine's time: this one takes only what is left.

    It stays in the session of the engine: Linux shares the processors among sessions first, and a thread of the engine
    that wakes up takes one at once only from what comes last within its own.
    """
    os.nice(19)
    if sys.platform == "linux":
        os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


def main() -> None:
    _step_back()
    name, url, seconds = sys.argv[1:]
    asyncio.run(_attack(name, url, float(seconds)))


if __name__ == "__main__":
    main()
