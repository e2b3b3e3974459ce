import sys

import pytest

from tests.cli.schemas import parsed
from tests.runtime.mcp.servers import small_server

LISTS = """
import json, os, sys
for line in sys.stdin:
    request = json.loads(line)
    about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
    about["serverInfo"] = {"name": "s", "version": "1"}
    tool = {"name": "forecast-" + os.environ.get("CITY", ""), "inputSchema": {"type": "object"}}
    result = about if request["method"] == "initialize" else {"tools": [tool]}
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)
"""


@pytest.fixture
def server(tmp_path):
    """The command of a server that lists one tool."""
    (tmp_path / "lists.py").write_text(LISTS)
    return [sys.executable, "-S", tmp_path / "lists.py"]


def test_a_server_is_added_tried_and_removed(pie, server, home):
    assert pie("mcp", "add", "weather", "--env", "CITY=rome", "--", *server).code == 0
    (row,) = parsed("mcp list", pie("mcp", "list", "--json").out)
    assert (row["name"], row["env"], "rome" in str(row)) == ("weather", ["CITY"], False)
    (tried,) = parsed("mcp test", pie("mcp", "test", "--json").out)
    assert (tried["state"], tried["tools"]) == ("answers", ["forecast-rome"])
    assert pie("mcp", "remove", "weather").out == "removed weather\n"
    assert (home / "config.toml").read_text().strip() == ""


def test_what_else_is_in_the_file_stays(pie, home):
    (home / "config.toml").write_text("# mine\n[server]\nport = 9000 # high\n")
    assert pie("mcp", "add", "search", "https://example.com/mcp", "--header", "X=1").code == 0
    text = (home / "config.toml").read_text()
    assert text.startswith("# mine\n[server]\nport = 9000 # high\n")
    assert pie("config", "get", "mcp.search.url").out == "https://example.com/mcp\n"


def test_a_server_that_does_not_answer_is_said_to_fail(pie, tmp_path):
    small = small_server(tmp_path, "crash")
    pie("mcp", "add", "small", "--", small.command, *small.args)
    ended = pie("mcp", "test", "small")
    assert (ended.code, "small  failed" in ended.out) == (1, True)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["add", "one"], "give a URL, a command after --, or --from"),
        (["add", "one", "--env", "X", "--", "true"], "'X': write NAME=VALUE"),
        (["remove", "one"], "there is no MCP server 'one' in the file"),
        (["test", "one"], "there is no server 'one' in the configuration"),
    ],
)
def test_what_cannot_be_meant_is_refused(pie, words, why):
    assert why in pie("mcp", *words).err
