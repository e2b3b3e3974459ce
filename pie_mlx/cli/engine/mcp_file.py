"""`pie run --mcp`: a file of MCP servers as other programs keep it, `.mcp.json`."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import click
import msgspec

from pie_mlx.config.schema import McpConfig
from pie_mlx.documents import json_struct
from pie_mlx.errors import ConfigError, InvalidArgumentError

_VARIABLE = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*))?\}")
_KINDS = {"stdio": "stdio", "http": "http", "streamable-http": "http"}

Name = Annotated[str, msgspec.Meta(min_length=1)]


class _Server(msgspec.Struct):
    """A server as it is written: `type` may be left out."""

    type: str = ""
    command: str | None = None
    args: list[str] = []
    env: dict[str, str] = {}
    url: str | None = None
    headers: dict[str, str] = {}


class _File(msgspec.Struct):
    servers: dict[Name, _Server] = msgspec.field(name="mcpServers", default_factory=dict[str, _Server])


def servers_in(file: Path, environment: Mapping[str, str]) -> list[McpConfig]:
    """Its servers, with `${NAME}` and `${NAME:-default}` replaced. Raises click.UsageError and ConfigError."""
    try:
        found = json_struct(file.read_bytes(), _File)
    except OSError as error:
        raise click.UsageError(f"--mcp {file}: {error.strerror}") from None
    except InvalidArgumentError as error:
        raise ConfigError(f"--mcp {file}: {error.message}", hint='it holds {"mcpServers": {NAME: {...}}}') from None
    if not found.servers:
        raise ConfigError(f"--mcp {file}: it names no servers", hint='it holds {"mcpServers": {NAME: {...}}}')
    return [_config(file, name, server, environment) for name, server in found.servers.items()]


def _config(file: Path, name: str, server: _Server, environment: Mapping[str, str]) -> McpConfig:
    where = f"--mcp {file}: {name}"
    kind = _KINDS.get(server.type or ("http" if server.url else "stdio"))
    if kind is None:
        raise ConfigError(f"{where}: type {server.type!r} is not supported", hint="use 'stdio' or 'http'")
    wanted = "command" if kind == "stdio" else "url"
    if not getattr(server, wanted):
        raise ConfigError(f"{where}: a server of type {kind} needs a {wanted}", hint=f"add its {wanted}")
    values = msgspec.to_builtins(server)
    values.pop("type")
    expanded = {key: _expanded(value, environment, where) for key, value in values.items()}
    return msgspec.convert({"name": name, "transport": kind, **expanded}, McpConfig)


def _expanded(value: Any, environment: Mapping[str, str], where: str) -> Any:
    match value:
        case str():
            return _VARIABLE.sub(lambda found: _value(found, environment, where), value)
        case list():
            return [_expanded(item, environment, where) for item in value]  # pyright: ignore[reportUnknownVariableType]
        case dict():
            return {key: _expanded(item, environment, where) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
        case _:
            return value


def _value(found: re.Match[str], environment: Mapping[str, str], where: str) -> str:
    name, default = found["name"], found["default"]
    if name not in environment and default is None:
        raise ConfigError(f"{where}: ${name} is not set", hint=f"set it, or write ${{{name}:-default}}")
    return environment.get(name, default or "")
