"""MCP servers. Those of the configuration are the engine's; a call may also have gone to a server of a client."""

from typing import Literal

import msgspec

from pie_mlx.events.base import Event


class McpServerStarted(Event, frozen=True):
    """A configured server is connected, for the `start`th time."""

    server: str
    transport: Literal["stdio", "http"]
    start: int


class McpServerStopped(Event, frozen=True):
    """A configured server ended or did not start; `stderr` are its last lines."""

    server: str
    reason: str
    stderr: tuple[str, ...] = ()


class McpCalled(Event, frozen=True):
    """A program called a server and got its answer or the `error`, which may be what a tool says of its failure.

    `tool` is the name of the tool that was called, if one was. It ended at `at_seconds`. `span` is the name of the call
    in the `traceparent` that the server got, if it got one.
    """

    process: str
    server: str
    method: str
    duration_seconds: float
    error: str = ""
    tool: str = ""
    at_seconds: float = 0.0
    span: str = ""


class McpTool(msgspec.Struct, frozen=True):
    """A tool of a server; `description` is the beginning of what the server says about it."""

    name: str
    description: str = ""


class McpToolsListed(Event, frozen=True):
    """A program listed a server's tools; `continued` if these follow those of the previous event."""

    process: str
    server: str
    tools: tuple[McpTool, ...]
    continued: bool = False
