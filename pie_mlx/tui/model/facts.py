"""Facts that no event carries, requested from a server at intervals. Sources without a server have none."""

from collections.abc import Mapping

import msgspec


class Connection(msgspec.Struct, frozen=True):
    """A client of the server, its attached processes, and the names of the MCP servers that it offers them."""

    id: str
    username: str
    address: str = ""
    attached: tuple[str, ...] = ()
    mcp_servers: tuple[str, ...] = ()


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a program, from its manifest."""

    name: str
    type: str = "string"
    default: object = None
    required: bool = False
    description: str = ""


class InstalledProgram(msgspec.Struct, frozen=True):
    """A program that can be launched by name, unless it answers requests: then it is served on a port."""

    name: str
    version: str
    description: str = ""
    parameters: tuple[Parameter, ...] = ()
    answers_requests: bool = False


class ConfiguredServer(msgspec.Struct, frozen=True):
    """An MCP server of the engine's configuration."""

    name: str
    transport: str = ""


class Facts(msgspec.Struct, frozen=True):
    """None if the source cannot know. `waits` says what running programs wait for, by their ids."""

    connections: tuple[Connection, ...] | None = None
    programs: tuple[InstalledProgram, ...] | None = None
    waits: Mapping[str, str] = {}
    mcp_servers: tuple[ConfiguredServer, ...] = ()


NO_FACTS = Facts()
