"""Installed programs."""

import asyncio

from pie_mlx.config.user_names import LOCAL_USER, RESERVED_USER
from pie_mlx.server.frames import AddProgram, CheckProgram, RemoveProgram
from pie_mlx.server.handlers.base import handles
from pie_mlx.server.session.connection import Connection
from pie_mlx.system import login_name


@handles(CheckProgram)
async def check_program(connection: Connection, request: CheckProgram) -> str:
    found = await asyncio.to_thread(
        connection.service.programs.check,
        request.name,
        request.version,
        connection.user.name,
        program_hash=request.wasm_hash,
        manifest_hash=request.manifest_hash,
    )
    return "true" if found else "false"


@handles(AddProgram)
async def add_program(connection: Connection, request: AddProgram) -> str | None:
    payload = await connection.programs.add_chunk(request)
    if payload is None:
        return None
    async with connection.service.installing:
        return await _store_program(connection, request, payload)


@handles(RemoveProgram)
async def remove_program(connection: Connection, request: RemoveProgram) -> str:
    removed = await asyncio.to_thread(
        connection.service.programs.remove,
        request.name,
        request.version,
        owner=_owner(connection),
        admin=connection.user.admin,
    )
    return f"Program {', '.join(removed)} removed"


async def _store_program(connection: Connection, request: AddProgram, payload: bytes) -> str:
    programs = connection.service.programs
    if not request.keep:
        program = await asyncio.to_thread(programs.unpack, payload, request.manifest, connection.user.name)
        connection.uploaded[program.identity] = program
        return "Program uploaded successfully"
    await asyncio.to_thread(
        programs.install,
        payload,
        request.manifest,
        owner=_owner(connection),
        admin=connection.user.admin,
        force=request.force_overwrite,
    )
    return "Program installed successfully"


def _owner(connection: Connection) -> str:
    """The owner of what the connection installs: its user; the local user without authentication or for operators."""
    user = connection.user
    is_operator = user.admin and user.name in (RESERVED_USER, login_name())
    return LOCAL_USER if is_operator or not connection.service.settings.authentication else user.name
