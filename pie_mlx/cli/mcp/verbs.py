"""What the verbs of `pie mcp` do."""

import asyncio
import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from pie_mlx.cli.config.active import active_config
from pie_mlx.cli.config.verbs import present_file, write_config
from pie_mlx.cli.engine.mcp_file import servers_in
from pie_mlx.cli.options import Common
from pie_mlx.cli.terminal.errors import FAILED
from pie_mlx.cli.terminal.text import table, without_controls
from pie_mlx.config.schema import McpConfig
from pie_mlx.errors import ConfigError, McpError
from pie_mlx.runtime.configured import mcp_servers
from pie_mlx.runtime.mcp import McpServers
from pie_mlx.runtime.mcp.listing import LIST_TOOLS, tools_listed

TEST_SECONDS = 30.0


def list_servers(common: Common) -> None:
    """Print the configured servers, without the values of their environment and headers."""
    servers = active_config(common).config.mcp
    if common.json:
        print(json.dumps([_row(server) for server in servers]))
    elif common.quiet:
        print("".join(f"{server.name}\n" for server in servers), end="")
    else:
        print(table(("NAME", "TRANSPORT", "SERVER"), [[one.name, one.transport, _place(one)] for one in servers]))


def described(
    name: str, words: Sequence[str], env: Sequence[str], headers: Sequence[str], file: Path | None
) -> McpConfig:
    """The server that a command line describes. Raises click.UsageError and ConfigError."""
    if file is not None:
        return _named(servers_in(file, os.environ), name, str(file))
    if words[0].startswith(("http://", "https://")):
        return McpConfig(name, "http", url=words[0], headers=_pairs(headers))
    return McpConfig(name, "stdio", command=words[0], args=list(words[1:]), env=_pairs(env))


def add(common: Common, server: McpConfig) -> None:
    """Write it to the file. Raises ConfigError."""
    from pie_mlx.config.writing import with_server

    if any(server.name == known.name for known in active_config(common).config.mcp):
        raise ConfigError(f"mcp: there is a server {server.name!r} already", hint=f"pie mcp remove {server.name}")
    file, text = present_file(common)
    write_config(file, with_server(text, server, str(file)))
    _tell(common, file, f"added {server.name}; 'pie mcp test {server.name}' tries it", server.name)


def remove(common: Common, name: str) -> None:
    """Remove it from the file. Raises ConfigError."""
    from pie_mlx.config.writing import without_server

    file, text = present_file(common)
    write_config(file, without_server(text, name))
    _tell(common, file, f"removed {name}", name)


def test(common: Common, name: str | None, file: Path | None) -> int:
    """Connect to the servers, print what they offer, and return the exit code. Raises ConfigError."""
    found = active_config(common).config.mcp if file is None else servers_in(file, os.environ)
    chosen = found if name is None else [_named(found, name, "the configuration" if file is None else str(file))]
    rows = asyncio.run(_tried(chosen))
    if common.json:
        print(json.dumps(rows, ensure_ascii=False))
    else:
        cells = [[row["name"], row["state"], f"{row['milliseconds']:.0f} ms", _said(row)] for row in rows]
        print(table(("NAME", "STATE", "TIME", "TOOLS"), cells))
    return FAILED if any(row["error"] for row in rows) else 0


async def _tried(servers: Sequence[McpConfig]) -> list[dict[str, Any]]:
    shared = McpServers(mcp_servers(servers), timeout_seconds=TEST_SECONDS)
    try:
        return list(await asyncio.gather(*(_row_of_test(shared, server.name) for server in servers)))
    finally:
        await shared.close()


async def _row_of_test(servers: McpServers, name: str) -> dict[str, Any]:
    started = time.perf_counter()
    tools: list[str] = []
    error = ""
    try:
        listed = tools_listed("", name, "{}", await servers.request(name, LIST_TOOLS, "{}"))
        tools = [tool.name for tool in listed.tools] if listed else []
        error = "" if listed else "its answer is no list of tools"
    except McpError as failure:
        error = failure.message
    milliseconds = (time.perf_counter() - started) * 1000
    state = "failed" if error else "answers"
    return {"name": name, "state": state, "milliseconds": milliseconds, "tools": tools, "error": error}


def _named(servers: Sequence[McpConfig], name: str, where: str) -> McpConfig:
    for server in servers:
        if server.name == name:
            return server
    known = ", ".join(server.name for server in servers) or "none"
    raise ConfigError(f"mcp: there is no server {name!r} in {where}", hint=f"known: {known}")


def _pairs(words: Sequence[str]) -> dict[str, str]:
    for word in words:
        if "=" not in word:
            raise click.UsageError(f"'{word}': write NAME=VALUE")
    return {name: value for name, _, value in (word.partition("=") for word in words)}


def _row(server: McpConfig) -> dict[str, Any]:
    return {
        "name": server.name,
        "transport": server.transport,
        "command": server.command,
        "args": server.args,
        "env": sorted(server.env),
        "url": server.url,
        "headers": sorted(server.headers),
    }


def _place(server: McpConfig) -> str:
    return server.url or " ".join([server.command or "", *server.args])


def _said(row: dict[str, Any]) -> str:
    return without_controls(row["error"].partition("\n")[0] or ", ".join(row["tools"]) or "none")


def _tell(common: Common, file: Path, line: str, name: str) -> None:
    if common.json:
        print(json.dumps({"file": str(file), "name": name}))
    elif not common.quiet:
        print(line)
