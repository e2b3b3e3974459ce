"""A configured MCP server, and what is known about it."""

from dataclasses import dataclass, field
from typing import Literal

from pie_mlx.errors import ConfigError
from pie_mlx.events import McpTool


@dataclass(frozen=True, slots=True)
class McpServer:
    """`stdio`: runs `command` with `args`, and with `env` besides PATH and HOME. `http`: `url`, with `headers`.

    Raises ConfigError if its name, command or url is missing.
    """

    name: str
    transport: Literal["stdio", "http"] = "stdio"
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict[str, str])
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        wanted = {"stdio": self.command, "http": self.url}[self.transport]
        if not self.name or not wanted:
            raise ConfigError(
                f"MCP server {self.name!r}: a server of transport {self.transport} needs a name and a "
                f"{'command' if self.transport == 'stdio' else 'url'}",
                hint="complete its [[mcp]] table",
            )


@dataclass(frozen=True, slots=True)
class McpServerState:
    """A server's state, for the monitor: `stderr` are its last lines, `tools` those it has listed."""

    name: str
    transport: Literal["stdio", "http"]
    running: bool
    calls: int
    failures: int
    starts: int
    last_error: str
    stderr: tuple[str, ...]
    tools: tuple[McpTool, ...] = ()
