"""Who the connection acts for."""

import asyncio
import random

from pie_mlx.errors import AuthError
from pie_mlx.server.connection import Connection
from pie_mlx.server.frames import AuthByToken, AuthIdentify, AuthProve, Ping
from pie_mlx.server.handlers.base import handles


@handles(AuthIdentify)
async def identify(connection: Connection, request: AuthIdentify) -> str:
    try:
        return connection.identity.identify(request.username)
    except AuthError:
        connection.service.failures.add(connection.address)
        raise


@handles(AuthProve)
async def prove(connection: Connection, request: AuthProve) -> str:
    try:
        return connection.identity.prove(request.signature)
    except AuthError:
        connection.service.failures.add(connection.address)
        raise


@handles(AuthByToken)
async def by_token(connection: Connection, request: AuthByToken) -> str | None:
    try:
        return connection.identity.take_token(request.token, request.username)
    except AuthError as error:
        connection.service.failures.add(connection.address)
        connection.spawn(_refuse_late(error), request)
        return None


@handles(Ping)
async def ping(connection: Connection, request: Ping) -> str:
    del connection, request
    return "Pong"


async def _refuse_late(error: AuthError) -> str:
    """Guessing is slow, and the time tells nothing."""
    await asyncio.sleep(random.uniform(1, 3))
    raise error
