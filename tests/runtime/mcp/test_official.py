"""A server made with the official package, on both transports."""

import json
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from pie_mlx.errors import McpError
from pie_mlx.runtime.mcp import McpServer, McpServers
from tests.ports import free_port
from tests.runtime.mcp.servers import OFFICIAL, official_server


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory):
    """Where a server listens for HTTP."""
    script = tmp_path_factory.mktemp("http") / "official.py"
    script.write_text(OFFICIAL)
    number = free_port()
    running = subprocess.Popen([sys.executable, script, str(number)])
    while running.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", number), 1).close()
            break
        except OSError:
            continue
    yield number
    running.kill()
    running.wait()


@pytest.fixture(params=["stdio", "http"])
async def servers(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[McpServers, None]:
    if request.param == "stdio":
        server = official_server(tmp_path)
    else:
        number = request.getfixturevalue("port")
        server = McpServer("weather", "http", url=f"http://127.0.0.1:{number}/mcp", headers={"X-Key": "secret"})
    started = McpServers([server])
    yield started
    await started.close()


async def test_everything_a_server_offers_can_be_used(servers: McpServers) -> None:
    async def ask(method: str, params: object) -> dict[str, object]:
        return json.loads(await servers.request("weather", method, json.dumps(params)))

    tools = (await ask("tools/list", {}))["tools"]
    assert {tool["name"] for tool in tools} == {"forecast", "broken", "process_id"}
    forecast = await ask("tools/call", {"name": "forecast", "arguments": {"city": "Oslo"}})
    assert forecast["content"][0]["text"] == "sunny in Oslo"
    assert [item["uri"] for item in (await ask("resources/list", {}))["resources"]] == ["weather://today"]
    read = await ask("resources/read", {"uri": "weather://today"})
    assert read["contents"][0]["text"] == "grüß dich, rain"
    assert [item["name"] for item in (await ask("prompts/list", {}))["prompts"]] == ["ask"]
    prompt = await ask("prompts/get", {"name": "ask", "arguments": {"city": "Rome"}})
    assert prompt["messages"][0]["content"]["text"] == "How is the weather in Rome?"
    assert (await ask("tools/call", {"name": "broken", "arguments": {}}))["isError"] is True
    (state,) = servers.states()
    assert (state.failures, state.last_error) == (1, "Error executing tool broken")
    with pytest.raises(McpError):
        await ask("prompts/get", {"name": "nothing"})
    (state,) = servers.states()
    assert state.starts == 1
    assert {tool.name for tool in state.tools} == {"forecast", "broken", "process_id"}


async def test_a_server_that_is_not_there_is_an_error() -> None:
    number = free_port()
    servers = McpServers([McpServer("gone", "http", url=f"http://127.0.0.1:{number}/mcp")])
    with pytest.raises(McpError, match="cannot be started") as raised:
        await servers.request("gone", "tools/list", "{}")
    assert raised.value.rpc_code == -32000
    await servers.close()
