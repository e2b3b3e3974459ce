"""An engine behind one port."""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO, cast

import uvicorn
from websockets.datastructures import Headers

import pie_mlx
from pie_mlx.events import Event
from pie_mlx.runtime.children import ResolveName
from pie_mlx.runtime.daemon import install_builtins
from pie_mlx.runtime.engine import Engine
from pie_mlx.runtime.registry import OutputLogs, Registry, RegistryLimits
from pie_mlx.runtime.store import ProgramStore, TrustedOwners
from pie_mlx.server.access.authentication import Authenticator, Identity, Keys, new_token
from pie_mlx.server.access.engine_key import EngineKey
from pie_mlx.server.access.request_checks import check_host, check_page
from pie_mlx.server.handlers import handlers
from pie_mlx.server.http.app import http_app
from pie_mlx.server.run_files import (
    EngineFile,
    bind_unix,
    lock_home,
    remove_engine_file,
    remove_unix,
    run_directory,
    write_engine_file,
)
from pie_mlx.server.service import Service
from pie_mlx.server.session.connection import NOT_AUTHENTICATED, Connection
from pie_mlx.server.settings import ServerSettings
from pie_mlx.server.transport.connection_limit import neighbourhood
from pie_mlx.server.transport.listener import Listener, bind_tcp, listen, websocket_url
from pie_mlx.server.transport.peers import is_unix
from pie_mlx.server.transport.refusals import RETRY_SECONDS, Refusal
from pie_mlx.server.transport.websocket import Websocket
from pie_mlx.system import login_name

SWEEP_SECONDS = 5.0
AUTHENTICATION_SECONDS = 3.0
"""How long a client may take to authenticate while others wait for a place."""
HANDSHAKE_SECONDS = 2e-3
"""What a connection can take of the loop before it is logged in: its handshake, and as many pings as it may send."""
EngineMaker = Callable[[Callable[[Event], None], ResolveName], Engine]
"""Makes an engine that reports its events and finds programs by name; the server enters and stops it."""


class Server:
    """Serves while it is entered.

    Binds the port at once and listens when the model is loaded. `source` is the directory or repo id of the model named
    `model`, `others` are those of further models by their names, `variables` the digests of the variables that set its
    configuration. `keys` None disables authentication. With `announces`, other commands find it through `home`.
    `observers` are called with every event. Entering raises ConfigError if the port is in use or another engine runs
    with `home`, and what the engine raises.
    """

    def __init__(
        self,
        settings: ServerSettings,
        make_engine: EngineMaker,
        *,
        home: Path,
        model: str,
        source: str = "",
        others: Mapping[str, str] | None = None,
        variables: Mapping[str, str] | None = None,
        keys: Keys | None = None,
        limits: RegistryLimits | None = None,
        announces: bool = True,
        observers: Sequence[Callable[[Event], None]] = (),
    ) -> None:
        self._settings = settings
        self._make_engine = make_engine
        self._home = home
        self._model = model
        self._source, self._others = source, dict(others or {})
        self._variables = dict(variables or {})
        self._limits = limits
        self._announces = announces
        self._observers = observers
        self._authenticator = Authenticator(new_token(), keys, settings.challenge_seconds)
        self._sockets: list[socket.socket] = []
        self._home_lock: TextIO | None = None
        self._sweeper: asyncio.Task[None] | None = None
        self._serving: asyncio.Task[None] | None = None
        self._http: Listener | None = None
        self._stopping: asyncio.Task[None] | None = None
        self.service: Service
        self.url = ""
        self.socket_path = ""

    @property
    def token(self) -> str:
        """The internal token, which grants all rights until the server stops."""
        return self._authenticator.token

    @property
    def engine_key(self) -> bytes | None:
        """The public key that identifies the engine to clients; None without authentication."""
        key = self._authenticator.engine_key
        return None if key is None else key.public

    async def __aenter__(self) -> Self:
        run_directory(self._home)
        if self._authenticator.keys is not None:
            self._authenticator = replace(self._authenticator, engine_key=EngineKey.of_home(self._home))
        try:
            if self._announces:
                self._home_lock = lock_home(self._home)
            self._sockets.append(bind_tcp(self._settings.host, self._settings.port))
            self.url = websocket_url(self._sockets[0])
            if self._announces:
                self._sockets.append(bind_unix(self._home))
                self.socket_path = str(self._sockets[1].getsockname())
            await self._start()
        except BaseException:
            self._close_sockets()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """No new connections; processes end with `Engine stopped`; connections close with 1001. Idempotent."""
        self._stopping = self._stopping or asyncio.create_task(self._stop())
        await asyncio.shield(self._stopping)

    async def _start(self) -> None:
        trusted, authenticated = self._settings.trusted_owners, self._settings.authentication
        programs = ProgramStore(self._home, owners=TrustedOwners.of_engine(trusted, authenticated=authenticated))
        await asyncio.to_thread(install_builtins, programs)
        engine = self._make_engine(self._publish, lambda name, users: programs.find(name, *users).program)
        self.service = Service(
            settings=self._settings,
            engine=engine,
            registry=Registry(
                engine,
                model=self._model,
                limits=self._limits,
                logs=OutputLogs(self._home / "logs", time.time),
                emit=self._publish,
            ),
            programs=programs,
            authenticator=self._authenticator,
            model=self._model,
        )
        await engine.__aenter__()
        engine.close_port(self._sockets[0].getsockname()[1])
        try:
            for bound in self._sockets:
                listen(bound, self._settings.host, self._settings.port)
            await self._serve()
            if self._announces:
                self._announce()
        except BaseException:
            await engine.stop()
            raise
        self._sweeper = asyncio.create_task(self._sweep())

    async def _serve(self) -> None:
        endpoint = _Endpoint(self.service)
        config = uvicorn.Config(
            http_app(self.service),
            ws=cast("Any", partial(_wire, endpoint)),
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=ceil(self._settings.stop_seconds),
        )
        self._http = Listener(config)
        self._serving = asyncio.create_task(self._http.serve(sockets=self._sockets))
        started = asyncio.create_task(self._http.has_started.wait())
        await asyncio.wait({started, self._serving}, return_when=asyncio.FIRST_COMPLETED)
        if self._serving.done():
            await self._serving

    def _announce(self) -> None:
        info = EngineFile(
            os.getpid(),
            self.url,
            self.socket_path,
            pie_mlx.__version__,
            time.time(),
            self._model,
            self._source,
            self._variables,
            self._others,
        )
        write_engine_file(self._home, info)

    async def _stop(self) -> None:
        if self._announces:
            remove_engine_file(self._home)
        if self._sweeper is not None:
            self._sweeper.cancel()
        if self._http is not None:
            self._http.refuse_more()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settings.stop_seconds):
                await self.service.registry.stop()
        if self._http is not None and self._serving is not None:
            self._http.should_exit = True
            await self._serving
        await self.service.engine.stop()
        await asyncio.to_thread(self.service.gpu.close)
        for close in self.service.closers:
            await close()
        self._close_sockets()

    def _close_sockets(self) -> None:
        for bound in self._sockets:
            bound.close()
        if self.socket_path:
            remove_unix(self._home, Path(self.socket_path))
        if self._home_lock is not None:
            self._home_lock.close()

    def _publish(self, event: Event) -> None:
        self.service.totals.observe(event)
        self.service.history.observe(event)
        self.service.figures.observe(event, time.time())
        self.service.requests.observe(event)
        self.service.feed.publish(event)
        for observer in self._observers:
            observer(event)

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            self.service.registry.end_abandoned(time.monotonic())
            for connection in list(self.service.connections):
                cast("Connection", connection).give_up_stalled_uploads()


class _Endpoint:
    """Admits websocket connections."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def wait_seconds(self, connection: socket.socket) -> float:
        """A machine pays for its handshakes as a user for its frames: before the login, the user is not known."""
        if is_unix(connection):
            return 0.0
        machine = f"\0{neighbourhood(_address(connection))}"  # the name of no user
        self._service.handshakes.charge(machine, HANDSHAKE_SECONDS)
        return self._service.handshakes.rest_seconds(machine)

    def refuses(self, path: str, headers: Headers, connection: socket.socket) -> Refusal | None:
        if path != "/":
            return Refusal(404, "the websocket is at /\n")
        settings = self._service.settings
        refusal = check_page("CONNECT", partial(_field, headers), settings.origins)
        if refusal is not None or is_unix(connection):
            return refusal
        foreign = check_host(_field(headers, "Host"), settings.host, settings.host_names)
        return foreign or self._check_room(_address(connection))

    def enter(self, wire: Websocket, connection: socket.socket) -> Connection:
        trusted = login_name() if is_unix(connection) else None
        identity = Identity(self._service.authenticator, trusted=trusted)
        address = "local" if is_unix(connection) else _address(connection)
        return Connection(self._service, wire, identity, address, handlers)

    def _check_room(self, address: str) -> Refusal | None:
        """Limit unauthenticated clients: the oldest makes room for others, and one machine gets half of the places."""
        connections, settings = self._service.connections, self._service.settings
        unknown = [connection for connection in connections if not connection.is_authenticated]
        source = neighbourhood(address)
        neighbours = sum(neighbourhood(connection.address) == source for connection in unknown) if source else 0
        if len(unknown) >= settings.unauthenticated:
            oldest = min(unknown, key=lambda connection: connection.since)
            if time.time() - oldest.since >= AUTHENTICATION_SECONDS:
                oldest.cut_off(NOT_AUTHENTICATED, "closed for other clients: connect again and send auth_identify")
                unknown.remove(oldest)
        full = len(connections) >= settings.connections or len(unknown) >= settings.unauthenticated
        if full or neighbours > settings.unauthenticated // 2:
            return Refusal(503, "too many connections: try again later\n", RETRY_SECONDS)
        return None


def _field(headers: Headers, name: str) -> str | None:
    """A header's value; repeated ones are joined, so they match nothing allowed."""
    values = headers.get_all(name)
    return ", ".join(values) if values else None


def _wire(endpoint: _Endpoint, *, server_state: Any, **unused: Any) -> Websocket:
    return Websocket(endpoint, server_state)


def _address(connection: socket.socket) -> str:
    return str(connection.getpeername()[0])
