"""Daemons: programs that answer HTTP."""

import asyncio

from pie_mlx.errors import AdmissionError, InvalidArgumentError
from pie_mlx.runtime.program.inputs import fitting_input, parse_input
from pie_mlx.runtime.registry import Launch
from pie_mlx.server.frames import LaunchDaemon
from pie_mlx.server.handlers.base import handles
from pie_mlx.server.handlers.processes import find_program
from pie_mlx.server.http.daemon import Daemon, with_request_handler
from pie_mlx.server.session.connection import Connection

HIGHEST_PORT = 65_535
DAEMONS = 16
"""Daemons per user: each has its own connections."""


@handles(LaunchDaemon)
async def launch_daemon(connection: Connection, request: LaunchDaemon) -> str:
    """Bind before answering, so that a port in use is an error of this request."""
    if not 1 <= request.port <= HIGHEST_PORT:
        raise InvalidArgumentError(f"port {request.port}: must be 1 to {HIGHEST_PORT}")
    program = await find_program(connection, request.inferlet)
    given = fitting_input(program.manifest.parameters, parse_input(request.input), program.identity)
    service, user = connection.service, connection.user
    running = [record for record in service.registry.records(user) if record.kind == "daemon"]
    if sum(record.username == user.name for record in running) >= DAEMONS:
        raise AdmissionError(f"{DAEMONS} daemons of user '{user.name}' are running", hint="end one of them")
    program = await asyncio.to_thread(with_request_handler, program)
    daemon = Daemon.bind(service.registry, service.settings, service.authenticator, user, program, given, request.port)
    service.registry.add_daemon(user, Launch(program, request.input), daemon.end)
    daemon.start()
    if service.settings.authentication:
        return f"server launched: requests need the header 'Authorization: Bearer {daemon.token}'"
    return "server launched"
