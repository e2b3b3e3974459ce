import json
import re
import subprocess

from pie_mlx.events import McpCalled
from tests.examples.stage import ALMANAC


def test_tools_of_the_server_are_listed_called_and_answered(play):
    played = play("react-agent")
    assert [call.method for call in played.of(McpCalled)] == ["tools/list", "tools/call"]
    assert re.search(r'Action: get_weather {"city": ?"Oslo"}', played.text)
    assert "Observation: 23 degrees, cloudy" in played.text
    assert isinstance(played.result, str)


def test_calls_are_bounded(play):
    played = play("react-agent", {"max_calls": 0})
    assert [call.method for call in played.of(McpCalled)] == ["tools/list", "tools/call"]
    assert played.result == "No answer after 0 calls."


def test_a_tool_that_fails_is_an_observation():
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_price", "arguments": {}}}
    done = subprocess.run([ALMANAC.command, *ALMANAC.args], input=json.dumps(request), capture_output=True, text=True)
    assert json.loads(done.stdout)["result"]["isError"] is True
