"""Requests that a process answers, one by one and many at once."""

import asyncio
import gzip
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from pie_mlx.runtime.execution.outcome import Returned
from pie_mlx.server.http import process_app
from pie_mlx.server.http.process_app import ProcessApp
from pie_mlx.server.watching.request_metrics import CLIENT_LEFT, ServedRequest

SCOPE = {"type": "http", "method": "POST", "path": "/", "query_string": b"", "headers": []}
pytestmark = pytest.mark.timeout(20)


class Program:
    """A process that answers at once, and ends when it is told to."""

    id = "p"

    def __init__(self) -> None:
        self.over = asyncio.Event()

    async def outcome(self) -> Any:
        await self.over.wait()
        return Returned("", "none")

    def cancel(self, reason: str) -> None:
        self.over.set()


@dataclass
class Client:
    """One request to an app. `sends` its body, all of it or nothing; hangs up once it is `gone`."""

    body, method = b"x", "POST"

    app: ProcessApp
    sends: bool = True
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    read: int = 0
    answers: list[dict[str, Any]] = field(default_factory=list)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def begin(self) -> "asyncio.Task[None]":
        self.task = asyncio.create_task(
            self.app({**SCOPE, "method": self.method, "headers": self.headers}, self._receive, self._send)
        )
        return self.task

    @property
    def status(self) -> int | None:
        return next((message["status"] for message in self.answers if "status" in message), None)

    async def _receive(self) -> dict[str, Any]:
        self.read += 1
        if self.read == 1 and self.sends:
            return {"type": "http.request", "body": self.body, "more_body": False}
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        self.answers.append(message)


@pytest.fixture
async def begun() -> AsyncIterator[Callable[..., list[Client]]]:
    """Begins requests; all are given up at the end."""
    clients: list[Client] = []

    def begin(app: ProcessApp, count: int, *, sends: bool = True) -> list[Client]:
        made = [Client(app, sends) for _ in range(count)]
        for client in made:
            client.begin()
        clients.extend(made)
        return made

    yield begin
    for client in clients:
        client.task.cancel()
    await asyncio.gather(*(client.task for client in clients), return_exceptions=True)


async def other_tasks_run() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@pytest.mark.parametrize("sends", [True, False], ids=["waiting for admission", "sending"])
async def test_requests_count_from_their_arrival(begun: Callable[..., list[Client]], sends: bool) -> None:
    turn = asyncio.Event()

    async def launch(exchange: Any) -> Any:
        await turn.wait()

    app = ProcessApp(launch, patience_seconds=10, at_once=4)
    first, more = begun(app, 4, sends=sends), begun(app, 3)
    await other_tasks_run()
    assert [client.status for client in (*first, *more)] == [None] * 4 + [503] * 3
    assert [client.read for client in more] == [0] * 3
    for client in first:
        client.task.cancel()
    await other_tasks_run()
    (later,) = begun(app, 1)
    await other_tasks_run()
    assert later.status is None


async def test_a_request_counts_until_its_process_is_over(begun: Callable[..., list[Client]]) -> None:
    program = Program()

    async def launch(exchange: Any) -> Any:
        exchange.begin(200, [])
        await exchange.write(b"all", last=True)
        return program

    app = ProcessApp(launch, patience_seconds=10, at_once=1)
    (first,) = begun(app, 1)
    await first.task
    (second,) = begun(app, 1)
    await second.task
    program.over.set()
    await other_tasks_run()
    (third,) = begun(app, 1)
    await third.task
    assert [client.status for client in (first, second, third)] == [200, 503, 200]


async def test_who_sends_no_body_is_not_waited_for(begun: Callable[..., list[Client]]) -> None:
    async def launch(exchange: Any) -> Any:
        raise AssertionError("nothing to answer")

    (client,) = begun(ProcessApp(launch, patience_seconds=0.01), 1, sends=False)
    await client.task
    assert client.status == 408


async def test_a_client_that_leaves_within_its_body_starts_nothing(begun: Callable[..., list[Client]]) -> None:
    served: list[ServedRequest] = []

    async def launch(exchange: Any) -> Any:
        raise AssertionError("nothing to answer")

    (client,) = begun(ProcessApp(launch, patience_seconds=10, finished=served.append), 1, sends=False)
    client.gone.set()
    await client.task
    assert client.answers == []
    assert [(request.status, request.process) for request in served] == [(CLIENT_LEFT, "")]


@pytest.mark.parametrize(("length", "status"), [(9, 413), (6, 503), (4, None)])
async def test_a_body_that_is_too_long_alone_or_with_the_others_is_refused_unread(length: int, status: int) -> None:
    async def launch(exchange: Any) -> Any:
        await asyncio.Event().wait()

    app = ProcessApp(launch, patience_seconds=10, body_limit_bytes=8, bodies_limit_bytes=5)
    client = Client(app, sends=False, headers=[(b"content-length", b"%d" % length)])
    task = client.begin()
    await other_tasks_run()
    assert client.status == status
    assert client.read == 1  # what still comes is taken in
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_what_bodies_took_is_free_when_their_processes_are_over(begun: Callable[..., list[Client]]) -> None:
    program = Program()

    async def launch(exchange: Any) -> Any:
        exchange.begin(200, [])
        await exchange.write(b"all", last=True)
        return program

    app = ProcessApp(launch, patience_seconds=10, bodies_limit_bytes=1)
    (first,) = begun(app, 1)
    await first.task
    (second,) = begun(app, 1)
    await other_tasks_run()
    program.over.set()
    await other_tasks_run()
    (third,) = begun(app, 1)
    await third.task
    assert [client.status for client in (first, second, third)] == [200, 503, 200]


@pytest.mark.parametrize("piece", [b"", b"x"])
async def test_a_body_that_drips_is_not_waited_for(piece: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_app, "DRAIN_SECONDS", 0.01)
    monkeypatch.setattr(process_app, "SLOWEST_BODY", 1 << 40)

    async def launch(exchange: Any) -> Any:
        raise AssertionError("nothing to answer")

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"type": "http.request", "body": piece, "more_body": True}

    answers: list[Any] = []

    async def send(message: Any) -> None:
        answers.append(message)

    await ProcessApp(launch, patience_seconds=0.01)(dict(SCOPE), receive, send)
    assert answers[0]["status"] == 408


class Recording:
    """A launch that keeps the request and answers it."""

    async def __call__(self, exchange: Any) -> Any:
        self.request = exchange.request
        exchange.begin(200, [])
        await exchange.write(b"all", last=True)
        program = Program()
        program.over.set()
        return program


async def test_each_request_is_told_when_it_is_over() -> None:
    program, ended = Program(), list[ServedRequest]()

    async def launch(exchange: Any) -> Any:
        exchange.begin(201, [])
        await exchange.write(b"all", last=True)
        return program

    app = ProcessApp(launch, patience_seconds=10, body_limit_bytes=1, at_once=1, finished=ended.append)
    answered = Client(app)
    await answered.begin()
    assert ended == []  # its process is not over
    await Client(app).begin()
    program.over.set()
    await other_tasks_run()
    too_long = Client(app)
    too_long.body = b"xx"
    await too_long.begin()
    assert [(served.status, served.process) for served in ended] == [(503, ""), (201, "p"), (413, "")]
    assert ended[1].duration_seconds > 0


async def test_a_client_that_leaves_before_its_answer_is_whole_has_left() -> None:
    ended = list[ServedRequest]()
    program = Program()

    async def launch(exchange: Any) -> Any:
        exchange.begin(200, [])
        await exchange.write(b"half")
        return program

    client = Client(ProcessApp(launch, patience_seconds=10, finished=ended.append))
    client.begin()
    await other_tasks_run()
    client.gone.set()
    await client.task
    await other_tasks_run()
    assert [served.status for served in ended] == [CLIENT_LEFT]


async def asked(body: bytes, *encodings: bytes, method: str = "POST") -> tuple[Client, Any]:
    """A client that has its answer, and the request that its program was asked, None if it was refused."""
    launch = Recording()
    headers = [(b"content-length", b"%d" % len(body)), *((b"content-encoding", name) for name in encodings)]
    client = Client(ProcessApp(launch, patience_seconds=10, body_limit_bytes=1 << 20), headers=headers)
    client.body, client.method = body, method
    await client.begin()
    return client, getattr(launch, "request", None)


@pytest.mark.parametrize("encodings", [(b"gzip",), (b"X-GZip",), (b"identity", b"gzip")])
async def test_a_gzip_body_is_decoded_for_the_program(encodings: tuple[bytes, ...]) -> None:
    text = b"a body of some length " * 10_000
    client, request = await asked(gzip.compress(text), *encodings)
    assert client.status == 200
    assert request.body == text
    assert request.headers == [("content-length", str(len(text)))]


async def test_a_bomb_is_refused_before_it_is_decoded() -> None:
    client, request = await asked(gzip.compress(bytes(64 << 20)), b"gzip")
    assert (client.status, request) == (413, None)


@pytest.mark.parametrize(
    "body",
    [b"no gzip", gzip.compress(b"text" * 99)[:-9], gzip.compress(b"text") + b"more", gzip.compress(b"a") * 2],
    ids=["no gzip", "cut short", "more after", "two members"],
)
async def test_a_damaged_body_is_refused(body: bytes) -> None:
    client, request = await asked(body, b"gzip")
    assert (client.status, request) == (400, None)


@pytest.mark.parametrize("encodings", [(b"br",), (b"gzip", b"gzip"), (b"deflate",), (b"zstd",)])
async def test_other_encodings_are_refused_with_the_one_that_is_read(encodings: tuple[bytes, ...]) -> None:
    client, request = await asked(b"x", *encodings)
    assert (client.status, request) == (415, None)
    assert (b"accept-encoding", b"gzip") in client.answers[0]["headers"]


async def test_a_program_is_asked_for_a_head_as_for_the_whole() -> None:
    _, request = await asked(b"", method="HEAD")
    assert request.method == "GET"
