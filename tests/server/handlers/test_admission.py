"""Launches and requests that wait for pages that may be claimed: the pool has 256, two launches claim 64 each."""

import asyncio
import json
from functools import partial

import pytest

from pie_mlx.events import ProcessQueued
from pie_mlx.server import Server
from tests.server.programs import PLAYER
from tests.server.running import RunningServer, dummy_engine, write_program
from tests.server.speaking import hang_up, speak

pytestmark = pytest.mark.timeout(30)


@pytest.fixture
def server(tmp_path):
    running = RunningServer(tmp_path / "home")
    running.seen = []
    make = partial(dummy_engine, max_batch_contexts=2, admission_oversubscription=0.5)
    running._make = partial(
        Server, running.settings, make, home=running.home, model="dummy", observers=[running.seen.append]
    )
    running.start()
    program, manifest = write_program(tmp_path / "player", "player", PLAYER)
    running.server.service.programs.install(program.read_bytes(), manifest.read_text())
    yield running
    running.stop()


async def listed(speaker):
    return {row["id"]: row for row in await speaker.json("list_processes")}


async def until(speaker, count):
    """The listing once it has so many rows."""
    while len(rows := await listed(speaker)) != count:
        pass
    return rows


async def ask(server):
    """A request whose answer never ends by itself."""
    port = int(server.url.rsplit(":", 1)[1])
    body = json.dumps({"model": "dummy", "prompt": [1, 2], "max_tokens": 3000, "stream": True}).encode()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(
        f"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
    )
    return reader, writer


async def test_a_launch_that_waits_says_why_in_listings_and_events(server):  # Q11
    async with await speak(server, "ada") as ada:
        running = [await ada.launch({"do": "wait"}) for _ in range(2)]
        waiting = await ada.launch({"do": "wait"})
        rows = await listed(ada)
        assert [rows[one]["state"] for one in [*running, waiting]] == ["running", "running", "queued"]
        assert rows[waiting]["reason"].startswith("queued: running launches claim 128 of the 130 pages")
        (event,) = [event for event in server.seen if isinstance(event, ProcessQueued)]
        assert (event.process, event.reason) == (waiting, rows[waiting]["reason"])
        for one in running:
            await ada.ask("terminate_process", process_id=one)
            await ada.events(one)
        assert (await listed(ada))[waiting]["state"] == "running"


async def test_a_request_that_waits_is_given_up_with_its_client(server):  # Q11
    async with await speak(server, "local") as local:
        running = [await local.launch({"do": "wait"}) for _ in range(2)]
        _, writer = await ask(server)
        rows = await until(local, 3)
        (waiting,) = [row for row in rows.values() if row["id"] not in running]
        assert (waiting["program"], waiting["state"]) == ("openai@1.0.0", "queued")
        writer.transport.abort()
        await until(local, 2)
        await hang_up(writer)


async def test_a_request_is_answered_when_its_turn_has_come(server):  # Q11
    async with await speak(server, "local") as local:
        running = [await local.launch({"do": "wait"}) for _ in range(2)]
        reader, writer = await ask(server)
        await until(local, 3)
        for one in running:
            await local.ask("terminate_process", process_id=one)
        assert await reader.readuntil(b"data: ")
        writer.transport.abort()  # the answer goes on for ever
        await hang_up(writer)
