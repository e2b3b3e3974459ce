"""Installed programs."""

from functools import partial

from pie_mlx.config.user_names import LOCAL_USER, RESERVED_USER
from pie_mlx.server.frames import AddProgram, CheckProgram, RemoveProgram
from pie_mlx.server.handlers.base import handles
from pie_mlx.server.session.connection import Connection
from pie_mlx.system import login_name


@handles(CheckProgram)
async def check_program(connection: Connection, request: CheckProgram) -> str:
    check = partial(
        connection.service.programs.check, program_hash=request.wasm_hash, manifest_hash=request.manifest_hash
    )
    found = await connection.beside(check, request.name, request.version, connection.user.name)
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
    remove = partial(connection.service.programs.remove, owner=_owner(connection), admin=connection.user.admin)
    removed = await connection.beside(remove, request.name, request.version)
    return f"Program {', '.join(removed)} removed"


async def _store_program(connection: Connection, request: AddProgram, payload: bytes) -> str:
    programs = connection.service.programs
    if not request.keep:
        program = await connection.beside(programs.unpack, payload, request.manifest, connection.user.name)
        connection.uploaded[program.identity] = program
        return "Program uploaded successfully"
    install = partial(
        programs.install, owner=_owner(connection), admin=connection.user.admin, force=request.force_overwrite
    )
    await connection.beside(install, payload, request.manifest)
    return "Program installed successfully"


def _owner(connection: Connection) -> str:
    """The owner of what the connection installs: its user; the local user without authentication or for operators."""
    user = connection.user
    is_operator = user.admin and user.name in (RESERVED_USER, login_name())
    return LOCAL_USER if is_operator or not connection.service.settings.authentication else user.name
