"""What hosts use, as a page: an engine in one's own process, and clients of an engine elsewhere."""

import inspect
from collections.abc import Iterator
from typing import Any

import pie_mlx
from pie_mlx import client, events
from pie_mlx.engine.settings import DiskCacheSettings, EngineSettings
from pie_mlx.runtime.mcp import McpServer, McpServerState
from pie_mlx.runtime.worker.settings import WorkerSettings
from tools.sdk_reference import class_lines, function_lines

_INTRODUCTION = """\
A *host* is a Python program of your own that starts an engine or connects to one: a service, a notebook, a test.
Programs that run beside the model import [`inferlet`](sdk.md) instead.

| to | |
|---|---|
| run one program and get its value | [`pie_mlx.run`](#pie_mlxrun) |
| keep an engine in this process | [`pie_mlx.Engine`](#pie_mlxengine), [`Process`](#pie_mlxprocess) |
| use an engine of `pie serve` | [`connect`](#connect), [`Client`](#client), [`RemoteProcess`](#remoteprocess) |
| watch what an engine does | `on_event` of an Engine, [`Client.watch`](#client) |

Errors are of `pie_mlx.errors`; programs see the same classes as `inferlet.errors`.
"""

_HERE = """\
```python
import asyncio

import pie_mlx
from inferlet import Context, Model, Sampler, runtime


async def ask(input):
    with Context(Model.load(runtime.models()[0])) as context:
        return await context.user(input["prompt"]).generate(Sampler.argmax(), max_tokens=32).collect_text()


async def main():
    async with pie_mlx.Engine("pie-tiny", total_pages=128) as engine:
        process = await engine.launch(ask, {"prompt": "What can you do?"})
        print(process.id, await process.result())
        print(await engine.page_usage())


asyncio.run(main())
```"""

_ELSEWHERE = """\
```python
import asyncio
import os
from pathlib import Path

from pie_mlx.client import connect, find_engine


async def main():
    home = Path(os.environ.get("PIE_HOME", "~/.pie")).expanduser()
    engine = find_engine(os.environ.get("PIE_URL"), os.environ, home)
    if engine is None:
        print("no engine is running: start one with 'pie serve'")
        return
    async with await connect(engine.url, unix_socket=engine.unix_socket) as client:
        process = await client.launch("text-completion", {"prompt": "Hello"})
        async for event, _ in process.events():
            print(event)


asyncio.run(main())
```"""

_ENGINE = ("run", "launch", "stop", "page_usage", "mcp_servers")
_PROCESS = ("send", "send_file", "close_session", "cancel", "outcome", "result")
_CLIENT = (
    *("authenticate", "authenticate_by_token", "close", "ping", "query", "processes", "install", "remove", "launch"),
    *("launch_all", "launch_daemon", "attach", "detach", "terminate", "set_bid", "suspend", "signal", "close_session"),
    *("send_file", "register_mcp_server", "watch"),
)
_EVENTS = ("ProcessLaunched", "ProcessOutput", "ProcessMessage", "ProcessFile", "ProcessReturned", "ProcessFailed")


def host_lines() -> Iterator[str]:
    """Engine, Process and what they take; then clients."""
    yield _INTRODUCTION
    yield "## An engine in this process\n"
    yield _HERE
    yield "\nIn a notebook cell the same works with `await` and without `asyncio.run`; `pie_mlx.run` works there too."
    yield from function_lines("pie_mlx.run", pie_mlx.run, "###")
    yield from class_lines("pie_mlx.Engine", pie_mlx.Engine, "###", _ENGINE)
    yield from class_lines("pie_mlx.Process", pie_mlx.Process, "###", _PROCESS, made_by="`Engine.launch`")
    for settings in (EngineSettings, DiskCacheSettings, WorkerSettings, McpServer, McpServerState):
        yield from class_lines(settings.__name__, settings, "###", ())
    yield "\n## An engine elsewhere\n"
    yield _ELSEWHERE
    yield from function_lines("find_engine", client.find_engine, "###")
    yield from class_lines("Address", client.Address, "###", ())
    yield from function_lines("connect", client.connect, "###")
    yield from class_lines("Client", client.Client, "###", _CLIENT, made_by="`connect`")
    made_by = "`Client.launch` and `Client.attach`"
    yield from class_lines("RemoteProcess", client.RemoteProcess, "###", _public(client.RemoteProcess), made_by=made_by)
    yield from class_lines("Watch", client.Watch, "###", (), made_by="`Client.watch`")
    yield from class_lines("EngineEvent", client.EngineEvent, "###", ())
    yield "\n## Events of a process\n"
    yield "Of `pie_mlx.events`; `on_event` of `Engine.launch` and `RemoteProcess.events` give them in order."
    for name in _EVENTS:
        yield from class_lines(name, getattr(events, name), "###", ())


def _public(kind: type[Any]) -> tuple[str, ...]:
    return tuple(name for name, value in vars(kind).items() if inspect.isfunction(value) and not name.startswith("_"))
