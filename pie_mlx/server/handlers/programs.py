"""Installed programs."""

import asyncio

from pie_mlx.errors import AuthError
from pie_mlx.runtime.manifest import parse_manifest
from pie_mlx.runtime.store import Installed
from pie_mlx.server.connection import Connection
from pie_mlx.server.frames import AddProgram, CheckProgram, RemoveProgram
from pie_mlx.server.handlers.base import handles


@handles(CheckProgram)
async def check_program(connection: Connection, request: CheckProgram) -> str:
    found = await asyncio.to_thread(
        connection.service.programs.check, request.name, request.version, request.wasm_hash, request.manifest_hash
    )
    return "true" if found else "false"


@handles(AddProgram)
async def add_program(connection: Connection, request: AddProgram) -> str | None:
    payload = await connection.programs.add(request)
    if payload is None:
        return None
    async with connection.service.installing:
        return await _take(connection, request, payload)


@handles(RemoveProgram)
async def remove_program(connection: Connection, request: RemoveProgram) -> str:
    programs = connection.service.programs
    _check_rights(connection, await asyncio.to_thread(programs.find, f"{request.name}@{request.version}"))
    removed = await asyncio.to_thread(programs.remove, request.name, request.version)
    return f"Program {', '.join(removed)} removed"


async def _take(connection: Connection, request: AddProgram, payload: bytes) -> str:
    programs = connection.service.programs
    if not request.keep:
        program = await asyncio.to_thread(programs.unpack, payload, request.manifest)
        connection.uploaded[program.identity] = program
        return "Program uploaded successfully"
    if request.force_overwrite:
        await _check_owner(connection, request.manifest)
    await asyncio.to_thread(
        programs.install, payload, request.manifest, owner=connection.user.name, force=request.force_overwrite
    )
    return "Program installed successfully"


async def _check_owner(connection: Connection, manifest_text: str) -> None:
    """Only its owner or an admin overwrites a program."""
    manifest = await asyncio.to_thread(parse_manifest, manifest_text)
    programs = connection.service.programs
    if await asyncio.to_thread(programs.check, manifest.name, str(manifest.version)):
        _check_rights(connection, await asyncio.to_thread(programs.find, manifest.identity))


def _check_rights(connection: Connection, installed: Installed) -> None:
    authenticates = connection.service.settings.authentication
    user = connection.user
    if authenticates and not user.admin and installed.record.owner != user.name:
        raise AuthError("Permission denied", hint=f"{installed.identity} belongs to another user")
