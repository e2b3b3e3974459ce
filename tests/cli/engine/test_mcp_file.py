import json

import click
import pytest

from pie_mlx.cli.engine.mcp_file import servers_in
from pie_mlx.config.schema import McpConfig
from pie_mlx.errors import ConfigError


@pytest.fixture
def write(tmp_path):
    def write(servers):
        (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))
        return tmp_path / ".mcp.json"

    return write


def test_servers_are_read_as_other_programs_write_them(write):
    file = write(
        {
            "files": {"command": "npx", "args": ["-y", "${NAME}"], "env": {"KEY": "${KEY:-none}"}},
            "search": {"type": "http", "url": "https://${HOST}/mcp", "headers": {"A": "b"}},
        }
    )
    assert servers_in(file, {"NAME": "server", "HOST": "x.y"}) == [
        McpConfig("files", "stdio", command="npx", args=["-y", "server"], env={"KEY": "none"}),
        McpConfig("search", "http", url="https://x.y/mcp", headers={"A": "b"}),
    ]


@pytest.mark.parametrize(
    ("server", "why"),
    [
        ({"command": "${MISSING}"}, "$MISSING is not set"),
        ({"args": []}, "a server of type stdio needs a command"),
        ({"type": "sse", "url": "https://x.y"}, "type 'sse' is not supported"),
        ({"command": 1}, "Expected"),
    ],
)
def test_a_server_that_cannot_be_is_said_to_be(write, server, why):
    with pytest.raises(ConfigError) as failure:
        servers_in(write({"one": server}), {})
    assert why.casefold() in failure.value.message.casefold()


def test_a_file_without_servers_and_one_that_is_not_there_are_told_apart(write, tmp_path):
    with pytest.raises(ConfigError, match="it names no servers"):
        servers_in(write({}), {})
    with pytest.raises(click.UsageError, match="No such file"):
        servers_in(tmp_path / "none.json", {})
