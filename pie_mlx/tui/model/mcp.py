"""MCP servers, as events describe them."""

from collections.abc import Mapping

import msgspec

from pie_mlx.events import McpCalled, McpServerStarted, McpServerStopped, McpTool, McpToolsListed
from pie_mlx.tui.model.facts import Facts

METHODS = 12
TOOLS = 256


class McpState(msgspec.Struct, frozen=True):
    """`starts` counts connections; `methods` are the latest called ones; `duration_seconds` is that of the latest call.

    `tools` are those that a program has listed.
    """

    name: str
    transport: str = ""
    state: str = "client"
    starts: int = 0
    calls: int = 0
    errors: int = 0
    duration_seconds: float = 0.0
    methods: tuple[str, ...] = ()
    tools: tuple[McpTool, ...] = ()
    last_error: str = ""
    stderr: tuple[str, ...] = ()


McpServers = Mapping[str, McpState]


McpEvent = McpServerStarted | McpServerStopped | McpCalled | McpToolsListed


def after_mcp(servers: McpServers, event: McpEvent) -> dict[str, McpState]:
    """The servers after an event."""
    known = servers.get(event.server, McpState(event.server))
    match event:
        case McpServerStarted(transport=transport, start=start):
            now = msgspec.structs.replace(known, transport=transport, state="ready", starts=start)
        case McpServerStopped(reason=reason, stderr=stderr):
            now = msgspec.structs.replace(known, state="stopped", last_error=reason, stderr=stderr)
        case McpCalled():
            now = _called(known, event)
        case McpToolsListed(tools=tools, continued=continued):
            now = msgspec.structs.replace(known, tools=(*known.tools, *tools)[:TOOLS] if continued else tools)
    return {**servers, event.server: now}


def _called(server: McpState, event: McpCalled) -> McpState:
    called = f"{event.method} {event.tool}".rstrip()
    others = [method for method in server.methods if method != called]
    return msgspec.structs.replace(
        server,
        calls=server.calls + 1,
        errors=server.errors + bool(event.error),
        duration_seconds=event.duration_seconds,
        methods=(called, *others)[:METHODS],
        last_error=event.error or server.last_error,
    )


def mcp_servers(servers: McpServers, facts: Facts) -> list[McpState]:
    """The servers of the events, and those that are configured or that clients have registered and that no program
    has called yet."""
    announced = {name: connection.username for connection in facts.connections or () for name in connection.mcp_servers}
    uncalled = [McpState(name, f"of {user}") for name, user in announced.items()]
    configured = [McpState(server.name, server.transport, "unused") for server in facts.mcp_servers]
    return [*servers.values(), *(row for row in (*configured, *uncalled) if row.name not in servers)]
