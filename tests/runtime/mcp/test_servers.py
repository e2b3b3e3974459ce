"""Configured servers, real processes all of them."""

import asyncio
import json
import os
import signal

import pytest

from pie_mlx.errors import ConfigError, EngineStoppedError, McpError
from pie_mlx.events import McpServerStarted, McpServerStopped
from pie_mlx.runtime.mcp import McpServer, McpServers


async def test_a_server_starts_with_the_first_request(small) -> None:
    started = small()
    assert started.servers.states()[0].running is False
    await started.call("ping")
    state = started.servers.states()[0]
    assert (state.running, state.calls, state.failures, state.starts) == (True, 1, 0, 1)
    assert started.events == [McpServerStarted("small", "stdio", 1)]


async def test_requests_share_one_connection(small) -> None:
    started = small()
    answers = await asyncio.gather(*(started.call("ping") for _ in range(5)))
    assert len({json.loads(answer)["pid"] for answer in answers}) == 1
    assert started.servers.states()[0].starts == 1


async def test_the_result_comes_back_as_the_server_wrote_it(small) -> None:
    assert await small().call("odd") == '{"n":12345678901234567890,"z":"grüß","a":null}'


async def test_the_length_of_an_answer_is_bounded_in_bytes(small, monkeypatch: pytest.MonkeyPatch) -> None:
    from pie_mlx.runtime.mcp import connection

    answer = await (started := small()).call("odd")
    monkeypatch.setattr(connection, "ANSWER_LIMIT_BYTES", len(answer.encode()))
    assert await started.call("odd") == answer
    monkeypatch.setattr(connection, "ANSWER_LIMIT_BYTES", len(answer))
    with pytest.raises(McpError, match="the answer is longer"):
        await started.call("odd")


async def test_an_error_of_the_server_is_raised_with_its_code_and_data(small) -> None:
    with pytest.raises(McpError, match="not today") as raised:
        await small().call("refuse")
    assert (raised.value.rpc_code, json.loads(raised.value.data)) == (-32050, {"retry": [1, 2]})


async def test_an_unknown_server_is_refused(small) -> None:
    with pytest.raises(McpError, match="MCP server 'clock' not registered") as raised:
        await small().call("ping", server="clock")
    assert raised.value.rpc_code == -1


async def test_a_server_that_dies_fails_the_call_and_is_started_again_for_the_next(small) -> None:
    started = small()
    await started.call("ping")
    with pytest.raises(McpError, match="ended before it answered") as raised:
        await started.call("die")
    assert raised.value.rpc_code == -32000
    await started.call("ping")
    state = started.servers.states()[0]
    assert (state.starts, "last words" in state.stderr) == (2, True)
    stopped = [event for event in started.events if isinstance(event, McpServerStopped)]
    assert [(event.server, "last words" in event.stderr) for event in stopped] == [("small", True)]


async def test_a_killed_server_fails_the_call_that_waits_and_no_other(small) -> None:
    started = small()
    pid = json.loads(await started.call("ping"))["pid"]
    waiting = asyncio.create_task(started.call("silence"))
    await asyncio.sleep(0)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(McpError):
        await waiting
    assert json.loads(await started.call("ping"))["pid"] != pid


async def test_a_server_is_restarted_three_times_a_minute(small) -> None:
    started = small()
    for _ in range(4):
        with pytest.raises(McpError, match="ended before it answered"):
            await started.call("die")
    with pytest.raises(McpError, match="restarted 3 times in a minute"):
        await started.call("ping")
    assert started.servers.states()[0].starts == 4


async def test_a_server_that_cannot_start_says_why(small) -> None:
    started = small("crash")
    with pytest.raises(McpError, match="cannot be started") as raised:
        await started.call("ping")
    assert raised.value.rpc_code == -32000
    assert started.servers.states()[0].stderr == ("cannot find my files",)


async def test_a_command_that_does_not_exist_is_an_error() -> None:
    servers = McpServers([McpServer("none", "stdio", "/no/such/command")])
    with pytest.raises(McpError, match="No such file"):
        await servers.request("none", "tools/list", "{}")
    await servers.close()


async def test_no_answer_in_time_is_an_error(small) -> None:
    started = small(timeout_seconds=1)
    with pytest.raises(McpError, match="did not answer within 1 s") as raised:
        await started.call("silence")
    assert raised.value.rpc_code == -32000
    await started.call("ping")


async def test_what_a_server_printed_before_an_answer_is_no_reason_for_its_silence(small) -> None:
    started = small("greeting", timeout_seconds=1)
    await started.call("ping")
    with pytest.raises(McpError, match=r"did not answer within 1 s$"):
        await started.call("silence")


async def test_a_server_that_does_not_greet_is_an_error(small) -> None:
    with pytest.raises(McpError, match=r"did not answer within 0\.5 s"):
        await small("mute", timeout_seconds=0.5).call("ping")


async def test_a_printed_greeting_is_passed_over(small) -> None:
    assert json.loads(await small("greeting").call("ping"))["pid"]


@pytest.mark.parametrize(("behaviour", "tool"), [("babble", "ping"), ("", "babble")])
async def test_a_server_that_babbles_is_ended(small, behaviour: str, tool: str) -> None:
    started = small(behaviour)
    with pytest.raises(McpError, match="100 lines that are not JSON-RPC"):
        await started.call(tool)
    assert started.servers.states()[0].running is False


async def test_a_cancelled_request_leaves_the_connection_to_others(small) -> None:
    started = small()
    await started.call("ping")
    waiting = asyncio.create_task(started.call("silence"))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    await started.call("ping")
    assert started.servers.states()[0].starts == 1


async def test_closing_leaves_no_process(small) -> None:
    started = small()
    pid = json.loads(await started.call("ping"))["pid"]
    await started.servers.close()
    await started.servers.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(EngineStoppedError):
        await started.call("ping")


async def test_closing_a_server_that_was_never_used_is_nothing(small) -> None:
    await small().servers.close()


def test_names_are_unique() -> None:
    server = McpServer("a", "stdio", "command")
    with pytest.raises(ConfigError):
        McpServers([server, server])


@pytest.mark.parametrize(
    "fields", [{"command": ""}, {"transport": "http", "command": "x"}, {"name": "", "command": "x"}]
)
def test_a_server_needs_a_name_and_an_address(fields: dict[str, str]) -> None:
    with pytest.raises(ConfigError):
        McpServer(**{"name": "a", **fields})
