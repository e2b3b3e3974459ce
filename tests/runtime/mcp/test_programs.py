"""MCP as programs use it, on an engine: servers of the configuration, of a client, and none."""

import asyncio
import json
from pathlib import Path

import pytest

from inferlet import mcp, runtime
from pie_mlx import Engine
from pie_mlx.errors import ChildFailedError, McpError
from pie_mlx.events import Event, McpCalled, McpTool, McpToolsListed
from pie_mlx.runtime.mcp import mcp_error
from tests.runtime.mcp.servers import small_server

CHILD = """
from inferlet import mcp

async def main(input):
    return [mcp.available_servers(), mcp.connect(input["server"]).list_tools()]
"""


class Relay:
    """A client with servers of these names."""

    def __init__(self, *names: str) -> None:
        self.names = list(names)
        self.asked: list[tuple[str, str, str]] = []

    def servers(self) -> list[str]:
        return self.names

    async def request(self, server: str, method: str, params_json: str) -> str:
        self.asked.append((server, method, params_json))
        match json.loads(params_json).get("name"):
            case "refuse":
                raise mcp_error(-32050, "not today", {"retry": True})
            case "silence":
                await asyncio.Event().wait()
        return '{"from": "the client"}'


@pytest.fixture
async def heard() -> list[Event]:
    return []


@pytest.fixture
async def engine(tmp_path: Path, heard: list[Event]):
    servers = [small_server(tmp_path), small_server(tmp_path, name="other")]
    async with Engine(
        dummy=True, total_pages=64, seed=1, mcp=servers, mcp_timeout_seconds=5, on_event=heard.append
    ) as running:
        yield running


async def test_every_method_asks_the_server_and_answers_json_text(engine: Engine) -> None:  # I5
    async def main(input):
        with mcp.connect("small") as server:
            called = json.loads(server.call_tool("echo", {"city": "Köln"}))
            others = [
                server.list_tools(),
                server.list_resources(),
                server.read_resource("a://b"),
                server.list_prompts(),
            ]
            return [
                called["arguments"],
                others,
                server.get_prompt("p", '{"a": "b"}'),
                await server.request("tools/list"),
            ]

    arguments, others, prompt, tools = await engine.run(main)
    methods = ["tools/list", "resources/list", "resources/read", "prompts/list"]
    assert arguments == {"city": "Köln"}
    assert [json.loads(text) for text in others] == [{"method": method} for method in methods]
    assert [json.loads(prompt), json.loads(tools)] == [{"method": "prompts/get"}, {"method": "tools/list"}]


async def test_arguments_of_the_program_travel_as_they_are(engine: Engine) -> None:  # I5
    async def main(input):
        session = mcp.connect("small")
        return [
            json.loads(session.call_tool("echo", args))["arguments"]
            for args in (None, {}, '{"n": 12345678901234567890}')
        ]

    assert await engine.run(main) == [{}, {}, {"n": 12345678901234567890}]


@pytest.mark.parametrize("args", ["not json", "[1]", "3", "", [], 0, {"x": object()}, "\ud800"])
async def test_arguments_that_are_no_json_object_are_refused_before_they_are_sent(engine: Engine, args: object) -> None:
    async def main(input):
        mcp.connect("small").call_tool("echo", args)

    with pytest.raises(McpError) as raised:
        await engine.run(main)
    assert raised.value.rpc_code == -32602
    assert engine.mcp_servers()[0].calls == 0


async def test_params_that_are_too_long_are_refused(engine: Engine) -> None:
    async def main(input):
        mcp.connect("small").call_tool("echo", {"x": "y" * 1_000_000})

    with pytest.raises(McpError, match="the limit is 1000000"):
        await engine.run(main)


async def test_an_unknown_server_is_an_error(engine: Engine) -> None:
    async def main(input):
        mcp.connect("clock")

    with pytest.raises(McpError, match="MCP server 'clock' not registered") as raised:
        await engine.run(main)
    assert raised.value.rpc_code == -1


async def test_other_methods_are_not_offered(engine: Engine) -> None:
    async def main(input):
        await mcp.connect("small").request("sampling/createMessage")

    with pytest.raises(McpError, match="is not offered"):
        await engine.run(main)


async def test_a_session_that_was_closed_answers_nothing(engine: Engine) -> None:
    async def main(input):
        session = mcp.connect("small")
        session.close()
        session.list_tools()

    with pytest.raises(McpError, match="it was closed"):
        await engine.run(main)


async def test_the_clients_servers_win_over_configured_ones(engine: Engine) -> None:
    async def main(input):
        return [mcp.available_servers(), *(mcp.connect(name).list_tools() for name in ("small", "mine", "other"))]

    relay = Relay("mine", "small")
    names, small, mine, other = await engine.run(main, relay=relay)
    assert names == ["mine", "small", "other"]
    assert small == mine == '{"from": "the client"}'
    assert json.loads(other) == {"method": "tools/list"}
    assert relay.asked == [("small", "tools/list", "{}"), ("mine", "tools/list", "{}")]


async def test_an_error_of_the_client_keeps_code_message_and_data(engine: Engine) -> None:
    async def main(input):
        mcp.connect("mine").call_tool("refuse")

    with pytest.raises(McpError, match="not today") as raised:
        await engine.run(main, relay=Relay("mine"))
    assert (raised.value.rpc_code, raised.value.data) == (-32050, '{"retry": true}')


async def test_a_client_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    async def main(input):
        mcp.connect("mine").call_tool("silence")

    async with Engine(dummy=True, total_pages=64, mcp_timeout_seconds=0.05) as engine:
        with pytest.raises(McpError, match="the client did not answer") as raised:
            await engine.run(main, relay=Relay("mine"))
    assert raised.value.rpc_code == -32000


async def test_a_child_uses_its_nearest_ancestors_client(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "child.py").write_text(CHILD)

    async def main(input):
        return await runtime.launch(str(tmp_path / "child.py"), {"server": "mine"}).result()

    names, answer = await engine.run(main, relay=Relay("mine"))
    assert (names, answer) == (["mine", "small", "other"], '{"from": "the client"}')
    with pytest.raises(ChildFailedError, match="not registered"):
        await engine.run(main)


async def test_a_client_that_left_offers_nothing(engine: Engine) -> None:
    async def main(input):
        return mcp.available_servers()

    assert await engine.run(main, relay=Relay()) == ["small", "other"]


async def test_calls_are_events(engine: Engine, heard: list[Event]) -> None:
    async def main(input):
        session = mcp.connect("small")
        session.list_tools()
        with pytest.raises(McpError):
            session.call_tool("refuse")

    await engine.run(main)
    called = [event for event in heard if isinstance(event, McpCalled)]
    assert [(event.server, event.method, event.error) for event in called] == [
        ("small", "tools/list", ""),
        ("small", "tools/call", "not today"),
    ]
    state = engine.mcp_servers()[0]
    assert (state.running, state.calls, state.failures, state.last_error) == (True, 2, 1, "not today")


async def test_what_a_program_is_told_of_tools_is_an_event(engine: Engine, heard: list[Event]) -> None:
    class Toolbox(Relay):
        async def request(self, server: str, method: str, params_json: str) -> str:
            return '{"tools": [{"name": "read", "description": "Read a file", "inputSchema": {"type": "object"}}]}'

    async def main(input):
        mcp.connect("files").list_tools()

    process = await engine.launch(main, relay=Toolbox("files"))
    await process.outcome()
    listed = [event for event in heard if isinstance(event, McpToolsListed)]
    assert listed == [McpToolsListed(process.id, "files", (McpTool("read", "Read a file"),))]


async def test_a_program_that_is_ended_during_a_call_ends(engine: Engine) -> None:
    async def main(input):
        await mcp.connect("small").request("tools/call", {"name": "silence"})

    process = await engine.launch(main)
    process.cancel()
    await process.outcome()
    assert engine.mcp_servers()[1].running is False
