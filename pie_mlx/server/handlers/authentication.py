"""Authentication of the connection."""

import asyncio
import contextlib
import random
from collections.abc import Generator

from pie_mlx.errors import AuthError
from pie_mlx.server.frames import AuthByToken, AuthEngine, AuthIdentify, AuthProve, Ping
from pie_mlx.server.handlers.base import handles
from pie_mlx.server.session.connection import Connection

FAILURE_SECONDS = 0.1
"""Delay of the answer to a failed proof, so that timing does not reveal which keys a user has."""


@handles(AuthEngine)
async def show_engine(connection: Connection, request: AuthEngine) -> str:
    with _counted(connection):
        return connection.identity.show_engine(request.nonce)


@handles(AuthIdentify)
async def identify(connection: Connection, request: AuthIdentify) -> str:
    await asyncio.sleep(connection.service.failures.delay_seconds(connection.address))
    with _counted(connection):
        return connection.identity.identify(request.username)


@handles(AuthProve)
async def prove(connection: Connection, request: AuthProve) -> str:
    loop = asyncio.get_running_loop()
    answered = loop.time() + FAILURE_SECONDS
    try:
        with _counted(connection):
            return connection.identity.prove(request.signature)
    except AuthError:
        await asyncio.sleep(answered - loop.time())
        raise


@handles(AuthByToken)
async def by_token(connection: Connection, request: AuthByToken) -> str | None:
    try:
        with _counted(connection):
            return connection.identity.authenticate_by_token(request.token, request.username)
    except AuthError as error:
        connection.spawn(_refuse_late(error), request)
        return None


@handles(Ping)
async def ping(connection: Connection, request: Ping) -> str:
    del connection, request
    return "Pong"


@contextlib.contextmanager
def _counted(connection: Connection) -> Generator[None]:
    """Count failures; too many as one user leave one attempt per connection."""
    identity, failures = connection.identity, connection.service.failures
    try:
        yield
    except AuthError:
        failures.count_failure(identity.claimed, connection.address)
        if failures.exceed_limit(identity.claimed, connection.address):
            identity.failures = max(identity.failures, connection.service.settings.failures)
        raise


async def _refuse_late(error: AuthError) -> str:
    """Make guessing slow, without revealing anything by timing."""
    await asyncio.sleep(random.uniform(1, 3))
    raise error
