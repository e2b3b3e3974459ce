"""Facts requested from a server: connections, programs with their parameters, and what running programs wait for."""

from typing import Any, cast

import msgspec

from pie_mlx.client import Client
from pie_mlx.documents import toml_document
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.tui.model.facts import ConfiguredServer, Connection, Facts, InstalledProgram, Machine, ModelRow, Parameter


async def ask_facts(client: Client, known: Facts) -> Facts:
    """The present facts; known programs are not requested again. Raises PieError."""
    try:
        sessions = (await client.query("sessions"))["sessions"]
        listed = (await client.query("programs"))["programs"]
        running = await client.processes()
        configured = known.mcp_servers if known.programs is not None else await _configured(client)
    except InvalidArgumentError:
        return known
    try:
        machine = msgspec.convert(await client.query("machine"), Machine)
    except InvalidArgumentError:  # an older server
        machine = None
    models = await _models(client)
    programs = [await _program(client, entry, known) for entry in listed]
    waits = {str(row["id"]): str(row["reason"]) for row in running if row.get("reason")}
    return Facts(
        connections=tuple(_connection(session) for session in sessions),
        programs=tuple(programs),
        waits=waits,
        mcp_servers=configured,
        machine=machine,
        models=models,
    )


async def _models(client: Client) -> tuple[ModelRow, ...]:
    try:
        return msgspec.convert(await client.models.list(), tuple[ModelRow, ...])
    except InvalidArgumentError:  # an older server
        return ()


async def _configured(client: Client) -> tuple[ConfiguredServer, ...]:
    """The configured MCP servers, which stay the same while an engine runs."""
    servers = (await client.query("engine_info")).get("mcp_servers", ())
    return msgspec.convert(servers, tuple[ConfiguredServer, ...])


def _connection(session: dict[str, Any]) -> Connection:
    address = str(session.get("address", ""))
    username = str(session.get("username", ""))
    return Connection(
        id=f"{username} {address} {session.get('since', 0)}",
        username=username,
        address=address,
        attached=tuple(session.get("attached", ())),
        mcp_servers=tuple(session.get("mcp_servers", ())),
    )


async def _program(client: Client, entry: dict[str, Any], known: Facts) -> InstalledProgram:
    name, version = str(entry["name"]), str(entry["version"])
    for program in known.programs or ():
        if (program.name, program.version) == (name, version):
            return program
    versions = (await client.query("programs", name=name))["programs"]
    nothing: dict[str, Any] = {}
    listed = next((each for each in versions if each.get("version") == version), nothing)
    return InstalledProgram(
        name,
        version,
        str(listed.get("description") or ""),
        manifest_parameters(str(listed.get("manifest", ""))),
        answers_requests=bool(listed.get("answers_requests")),
    )


def manifest_parameters(text: str) -> tuple[Parameter, ...]:
    """The parameters of a manifest; none if it cannot be read."""
    try:
        tables = toml_document(text).get("parameters", {})
    except InvalidArgumentError:
        return ()
    return tuple(_parameter(name, table) for name, table in cast("dict[str, Any]", tables).items())


def _parameter(name: str, table: dict[str, Any]) -> Parameter:
    required = "default" not in table and not table.get("optional", False)
    kind, description = str(table.get("type", "any")), str(table.get("description", ""))
    return Parameter(name, kind, table.get("default"), required, description)
