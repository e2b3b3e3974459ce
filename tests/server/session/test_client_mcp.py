import asyncio
import json

import msgspec
import pytest

from pie_mlx.errors import InvalidArgumentError, McpError
from pie_mlx.server.session.client_mcp import Announced, ClientServers
from tests.server.speaking import speak

pytestmark = pytest.mark.timeout(30)


def announced(name):
    return Announced(name, "stdio", "never-executed", (), None)


@pytest.fixture
def sent():
    return []


@pytest.fixture
def servers(sent):
    servers = ClientServers(lambda frame: sent.append(msgspec.msgpack.decode(frame)), 0.05)
    servers.announce(announced("tools"))
    return servers


async def begin(servers, sent):
    """A request on its way, and its number."""
    request = asyncio.create_task(servers.request("p", "tools", "tools/call", '{"name": "a"}'))
    await asyncio.sleep(0)
    return request, sent[-1]["corr_id"]


async def test_a_request_and_its_answer(servers, sent):
    request, number = await begin(servers, sent)
    assert sent == [
        {
            "type": "mcp_request",
            "corr_id": number,
            "process_id": "p",
            "server_name": "tools",
            "method": "tools/call",
            "params": '{"name": "a"}',
        }
    ]
    servers.answered(number, True, '{"x": 1}')
    assert await request == '{"x": 1}'


async def test_answers_come_in_any_order_and_strangers_are_ignored(servers, sent):
    first, one = await begin(servers, sent)
    second, two = await begin(servers, sent)
    servers.answered(99, True, "stranger")
    servers.answered(two, True, "2")
    servers.answered(one, True, "1")
    assert [await first, await second] == ["1", "2"]
    servers.answered(one, True, "late")


@pytest.mark.parametrize(
    ("result", "code", "message", "data"),
    [
        ('{"code": -32601, "message": "no such tool", "data": {"a": 1}}', -32601, "no such tool", {"a": 1}),
        ("not json", -32000, "not json", None),
        ('{"code": "x"}', -32000, '{"code": "x"}', None),
    ],
)
async def test_a_refusal_keeps_code_message_and_data(servers, sent, result, code, message, data):
    request, number = await begin(servers, sent)
    servers.answered(number, False, result)
    with pytest.raises(McpError) as refused:
        await request
    assert (refused.value.details["rpc_code"], refused.value.message) == (code, message)
    assert (refused.value.details["data"] or None) == (None if data is None else json.dumps(data))  # 1.10


async def test_no_answer_is_an_error_after_a_while(servers, sent):
    request, _ = await begin(servers, sent)
    with pytest.raises(McpError, match="no answer within"):
        await request


async def test_a_client_that_leaves_fails_what_is_under_way(servers, sent):
    request, _ = await begin(servers, sent)
    servers.close()
    with pytest.raises(McpError, match="disconnected"):
        await request


async def test_arguments_must_be_json_and_names_known(servers, sent):
    with pytest.raises(McpError) as refused:
        await servers.request("p", "tools", "tools/call", "{")
    assert refused.value.details["rpc_code"] == -32602
    with pytest.raises(McpError) as refused:
        await servers.request("p", "others", "tools/call", "{}")
    assert refused.value.details["rpc_code"] == -1
    assert sent == []


def test_at_most_32_servers(servers):
    for number in range(31):
        servers.announce(announced(str(number)))
    servers.announce(announced("tools"))
    with pytest.raises(InvalidArgumentError, match="32 are registered, which is the limit"):
        servers.announce(announced("one more"))
    with pytest.raises(InvalidArgumentError, match="1 to 128 characters"):
        servers.announce(announced(""))


async def test_over_the_wire(server):
    async with await speak(server, "ada") as speaker:
        assert await speaker.ask("register_mcp_server", name="t", transport="stdio", command="never") == (
            True,
            "MCP server registered",
        )
        process = await speaker.launch({"do": "mcp"})
        request = await speaker.event(process)
        assert (request["server_name"], request["method"]) == ("t", "tools/call")
        assert json.loads(request["params"]) == {"name": "add", "arguments": {"a": 1, "b": 2}}
        failure = '{"code": -5, "message": "broken"}'
        await speaker.send(type="mcp_response", corr_id=request["corr_id"], ok=False, result=failure)
        last = (await speaker.events(process))[-1]
        assert (last["event"], last["value"], last["error_type"]) == ("error", "broken", "McpError")
        ok, result = await speaker.ask("register_mcp_server", name="t", transport="carrier-pigeon")
        assert (ok, result) == (False, "MCP server 't': transport 'carrier-pigeon' is neither stdio nor http")
