"""Daemons: programs that answer HTTP on their own ports, with a process per request."""

import asyncio
import json
import socket
from dataclasses import dataclass, field, replace

import uvicorn
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from pie_mlx.errors import LaunchError
from pie_mlx.runtime.daemon import HttpExchange
from pie_mlx.runtime.execution.outcome import Outcome
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.program.manifest import HANDLER
from pie_mlx.runtime.program.parameters import Input
from pie_mlx.runtime.program.program import Program, handles_requests
from pie_mlx.runtime.registry import Launch, Registry, User
from pie_mlx.server.access.authentication import Authenticator, new_token
from pie_mlx.server.access.request_checks import TOKEN_HEADERS, check_token
from pie_mlx.server.http.gate import Gate
from pie_mlx.server.http.process_app import ProcessApp
from pie_mlx.server.settings import ServerSettings
from pie_mlx.server.transport.listener import Listener, bind_tcp, listen
from pie_mlx.server.transport.refusals import Refusal

HOST = "127.0.0.1"
STOP_SECONDS = 2
PLACES = 128
"""Connections per daemon, so that all daemons together leave enough file descriptors."""


def with_request_handler(program: Program) -> Program:
    """The program with its request handler as entry. Raises LaunchError if it has none."""
    if not handles_requests(program):
        raise LaunchError(
            f"program '{program.identity}': no function '{HANDLER}(request)'",
            hint=f"define it in {program.main_file.name}, or launch the program as a process",
        )
    runtime = replace(program.manifest.runtime, entry=HANDLER, call="http")
    return replace(program, manifest=replace(program.manifest, runtime=runtime))


@dataclass(slots=True, eq=False)
class Daemon:
    """`program` has its request handler as entry, which gets `input` with each request.

    Its processes have no attached client, so they cannot reach MCP servers of clients.
    """

    registry: Registry
    settings: ServerSettings
    authenticator: Authenticator
    user: User
    program: Program
    input: Input
    _bound: socket.socket
    token: str = field(default_factory=new_token)
    """Token for this daemon only, which its owner may pass on; required with authentication on."""
    _answering: "dict[asyncio.Task[Outcome], Process]" = field(default_factory=dict["asyncio.Task[Outcome]", Process])
    _server: Listener | None = None
    _serving: "asyncio.Task[None] | None" = None

    @staticmethod
    def bind(
        registry: Registry,
        settings: ServerSettings,
        authenticator: Authenticator,
        user: User,
        program: Program,
        input: Input,
        port: int,
    ) -> "Daemon":
        """Raises ConfigError for a port in use."""
        bound = bind_tcp(HOST, port)
        listen(bound, HOST, port)
        return Daemon(registry, settings, authenticator, user, program, input, bound)

    def start(self) -> None:
        app = ProcessApp(self._launch, patience_seconds=self.settings.slow_reader_seconds)
        checked = _WithoutToken(app) if self.settings.authentication else app
        config = uvicorn.Config(
            Gate(checked, self.settings, HOST, self._check_token, _answer),
            lifespan="off",
            ws="none",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=STOP_SECONDS,
        )
        self._server = Listener(config, PLACES)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._bound]))

    def end(self) -> None:
        """Stop listening, and end processes that are answering."""
        if self._server is not None and self._server.has_started.is_set():
            # Not only the socket: the loop watches its descriptor, which is reused.
            self._server.refuse_more()
            self._server.should_exit = True
        else:
            if self._serving is not None:
                self._serving.cancel()
            self._bound.close()
        for process in self._answering.values():
            process.cancel()

    def _check_token(self, scope: Scope, headers: Headers) -> Refusal | None:
        del scope
        if not self.settings.authentication:
            return None
        return check_token(headers.get, self._is_token, "the daemon's token")

    def _is_token(self, given: str) -> bool:
        return self.authenticator.is_token(given) or Authenticator(self.token).is_token(given)

    async def _launch(self, exchange: HttpExchange) -> Process:
        launch = Launch(self.program, json.dumps(self.input), captures=False, http=exchange)
        process = await self.registry.launch_at_once(self.user, launch)
        ending = asyncio.create_task(process.outcome())
        self._answering[ending] = process
        ending.add_done_callback(self._answering.pop)
        return process


@dataclass(frozen=True, slots=True)
class _WithoutToken:
    """Keeps tokens from the program: the engine's would give it admin rights."""

    app: ProcessApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        others = [(name, value) for name, value in scope["headers"] if name not in TOKEN_HEADERS]
        await self.app({**scope, "headers": others}, receive, send)


def _answer(scope: Scope, refusal: Refusal) -> PlainTextResponse:
    del scope
    return PlainTextResponse(refusal.text, refusal.status)
