"""Messaging, children and MCP from processes of their own."""

import json
import os
import signal
from pathlib import Path

import pytest

from pie_mlx import Engine
from pie_mlx.events import ProcessFailed
from pie_mlx.runtime.messaging.hub import Hub
from tests.instances import instances
from tests.runtime.children.test_children import Heard
from tests.runtime.mcp.servers import small_server

PROGRAM = """
import asyncio
import os
from inferlet import mcp, messaging, runtime, session

async def talk():
    children = [runtime.launch("./", {"do": "echo"}) for _ in range(2)]
    messaging.push("work", "a")
    messaging.push("work", {"b": 1})
    results = sorted([await child.result() for child in children])
    with messaging.subscribe("news") as news:
        waiting = asyncio.create_task(news.next())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        messaging.broadcast("news", "extra")
        heard = await news.next()
    answer = mcp.connect("small").call_tool("echo", {"x": 1})
    failed = ""
    try:
        await runtime.launch("./", {"do": "fail"}).result()
    except Exception as error:
        failed = [type(error).__name__, error.child_type, error.child_message]
    try:
        mcp.connect("small").call_tool("refuse")
    except Exception as error:
        refused = [type(error).__name__, error.rpc_code, error.data]
    return [results, heard, answer, failed, refused]

async def main(input):
    match input["do"]:
        case "talk":
            return await talk()
        case "echo":
            return await messaging.pull("work")
        case "fail":
            raise KeyError("no such")
        case "lead":
            runtime.launch("./", {"do": "wait"})
            messaging.push("pid", str(os.getpid()))
            await asyncio.Event().wait()
        case "wait":
            await asyncio.Event().wait()
        case "pid":
            return int(await messaging.pull("pid"))
"""


@pytest.fixture
async def heard() -> Heard:
    return Heard()


@pytest.fixture
async def engine(tmp_path: Path, heard: Heard):
    with instances(Hub) as hubs:
        async with Engine(
            dummy=True, total_pages=64, seed=1, isolation="process", mcp=[small_server(tmp_path)], on_event=heard.append
        ) as running:
            yield running
            assert hubs[0].is_empty


@pytest.fixture
def program(tmp_path: Path) -> Path:
    (tmp_path / "main.py").write_text(PROGRAM)
    return tmp_path


async def test_everything_outside_is_reached_from_a_worker(engine: Engine, program: Path) -> None:
    results, heard, answer, failed, refused = await engine.run(program, {"do": "talk"})
    assert (results, heard) == (["a", '{"b":1}'], "extra")
    assert json.loads(answer)["arguments"] == {"x": 1}
    assert failed == ["ChildFailedError", "KeyError", "'no such'"]
    assert refused == ["McpError", -32050, '{"retry": [1, 2]}']


async def test_a_killed_parent_takes_its_children_with_it(engine: Engine, program: Path, heard: Heard) -> None:
    leading = await engine.launch(program, {"do": "lead"})
    os.kill(await engine.run(program, {"do": "pid"}), signal.SIGKILL)
    await leading.outcome()
    await heard.ended(3)
    assert len([event for event in heard if isinstance(event, ProcessFailed)]) == 2
