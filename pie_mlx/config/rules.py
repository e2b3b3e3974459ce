"""Rules between values, and rules no type can state."""

import ipaddress
import math
import re
from collections.abc import Iterator, Mapping, Sequence

from pie_mlx.config.schema import Config, McpConfig, ModelConfig
from pie_mlx.config.user_names import user_name_problem
from pie_mlx.config.values import Setting

Settings = Mapping[str, Setting]

_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9.-]+)(?::\d{1,5})?")
_HOST_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?")
_HOST = re.compile(r"(?:\*\.)?[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?")
_PORTS = re.compile(r"(?P<host>.*?)(?::(?P<low>\d{1,5})(?:-(?P<high>\d{1,5}))?)?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HIGHEST_SEED = 2**64 - 1
_HIGHEST_PORT = 65535


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach what listens on `host`."""
    address = host.strip("[]")
    return host == "localhost" or (_is_address(address) and ipaddress.ip_address(address).is_loopback)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def listening_problem(host: str, *, authenticated: bool) -> str:
    """Why an engine may not listen on `host`, or ""."""
    if authenticated or is_loopback(host):
        return ""
    return (
        f"refusing to listen on {host} without authentication: set [auth] enabled = true and add a key with"
        " 'pie auth add', or use 127.0.0.1"
    )


def broken_rules(config: Config, given: Settings) -> Iterator[str]:
    """Violations of rules between values; `given` are the values that are no defaults."""
    if problem := listening_problem(config.server.host, authenticated=config.auth.enabled):
        yield f"server.host = {config.server.host!r}: {problem}"
    for origin in config.server.allowed_origins:
        if not _ORIGIN.fullmatch(origin):
            yield f"server.allowed_origins: {origin!r} is not scheme://host[:port]"
    for name in config.server.allowed_hosts:
        if not _HOST_NAME.fullmatch(name) and not _is_address(name):
            yield f"server.allowed_hosts: {name!r} is no name or address of a host, without scheme, port and *"
    for name in config.auth.trusted_owners:
        if problem := user_name_problem(name):
            yield f"auth.trusted_owners: {name!r}: {problem}"
    for entry, why in host_problems(config.runtime.network_allowed_hosts):
        yield f"runtime.network_allowed_hosts: {entry!r}: {why}"
    for name in config.runtime.environment:
        if not _VARIABLE.fullmatch(name):
            yield f"runtime.environment: {name!r} is not the name of a variable"
    yield from _model_problems(config.model, given)
    yield from _alias_problems(config)
    yield from _repeated("mcp", [server.name for server in config.mcp])
    for place, server in enumerate(config.mcp):
        yield from (f"mcp.{place}: {why}" for why in _mcp_problems(server))


def host_problems(entries: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Invalid entries of `network_allowed_hosts`, each with the reason."""
    for entry in entries:
        if entry == "*":
            if len(entries) > 1:
                yield entry, "'*' stands alone: it allows every public address"
        elif not _is_network(entry) and (why := _host_problem(entry)):
            yield entry, why


def _host_problem(entry: str) -> str:
    match = _PORTS.fullmatch(entry)
    host = match["host"] if match else entry
    bracketed = host.startswith("[") and host.endswith("]")
    if not (_is_network(host[1:-1]) if bracketed else _is_network(host) or _HOST.fullmatch(host)):
        return "neither IP, CIDR, host nor *.domain"
    low = int(match["low"] or 1) if match else 1
    high = int(match["high"] or low) if match else low
    return "" if 1 <= low <= high <= _HIGHEST_PORT else "ports are 1 to 65535, the lower first"


def _is_network(text: str) -> bool:
    try:
        ipaddress.ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _model_problems(models: Sequence[ModelConfig], given: Settings) -> Iterator[str]:
    yield from _repeated("model", [model.name for model in models])
    for place, model in enumerate(models):
        engine = f"model.{place}.engine"
        if f"{engine}.total_pages" in given and f"{engine}.kv_memory_fraction" in given:
            yield f"{engine}: total_pages and kv_memory_fraction exclude each other: keep one"
        if model.engine.random_seed > _HIGHEST_SEED:
            yield f"{engine}.random_seed = {model.engine.random_seed}: expected at most {_HIGHEST_SEED}"
    sharing = [m.engine.kv_memory_fraction for m in models if m.engine.type == "mlx" and m.engine.total_pages is None]
    if len(sharing) > 1 and (total := math.fsum(sharing)) > 1:
        yield f"model: the kv_memory_fraction of {len(sharing)} models sum to {total:g}: lower them to 1 together"


def _alias_problems(config: Config) -> Iterator[str]:
    names = [model.name for model in config.model]
    for alias, name in config.aliases.items():
        if alias in names or name not in names:
            why = "is the name of a model" if alias in names else f"there is no model {name!r}: {', '.join(names)}"
            yield f"aliases.{alias}: {why}"


def _repeated(section: str, names: Sequence[str]) -> Iterator[str]:
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield f"{section}: the name {name!r} is given twice"


def _mcp_problems(server: McpConfig) -> Iterator[str]:
    stdio = {"command": server.command, "args": server.args, "env": server.env}
    http = {"url": server.url, "headers": server.headers}
    needed, foreign = (stdio, http) if server.transport == "stdio" else (http, stdio)
    if not next(iter(needed.values())):
        yield f"transport {server.transport} needs {next(iter(needed))}"
    yield from (f"{key} does not go with transport {server.transport}" for key, value in foreign.items() if value)
