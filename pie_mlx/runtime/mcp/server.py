"""A configured MCP server, and what is known about it."""

from dataclasses import dataclass, field
from typing import Literal

from pie_mlx.errors import ConfigError
from pie_mlx.events import McpTool


@dataclass(frozen=True, slots=True)
class McpServer:
    """`stdio`: `command` is started with `args` and, besides PATH and HOME, `env`. `http`: `url`, with `headers`.

    Raises ConfigError for one without a name, a command or a url.
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
    """What the monitor shows of a server: `stderr` are the last lines it wrote there, `tools` those it told of."""

    name: str
    transport: Literal["stdio", "http"]
    running: bool
    calls: int
    failures: int
    starts: int
    last_error: str
    stderr: tuple[str, ...]
    tools: tuple[McpTool, ...] = ()
