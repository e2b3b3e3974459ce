"""One client: handles its frames in order, and keeps its attached processes."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, TypeVar

from pie_mlx.engine import inspection
from pie_mlx.errors import AuthError, PieError, ProtocolError
from pie_mlx.events import ProcessEvent, ProcessFailed, ProcessReturned
from pie_mlx.runtime.program.program import Program
from pie_mlx.runtime.registry import ProcessRecord, User
from pie_mlx.server import frames
from pie_mlx.server.access.authentication import Identity
from pie_mlx.server.service import Service
from pie_mlx.server.session.client_mcp import ClientServers
from pie_mlx.server.session.outbox import Outbox
from pie_mlx.server.session.uploads import FileUploads, ProgramUploads
from pie_mlx.server.transport.websocket import Websocket
from pie_mlx.server.watching.feed import WatchedTokens, Watcher

_log = logging.getLogger(__name__)

UNANSWERED_LIMIT = 1024
INBOX_FRAMES, INBOX_BYTES = 64, 1 << 20
"""Unhandled frames beyond which the connection is not read."""
NOT_A_FRAME, FAULT, TRY_LATER, NOT_AUTHENTICATED, TOO_SLOW = 1007, 1011, 1013, 4401, 4408

T = TypeVar("T")

Handler = Callable[["Connection", Any], Awaitable[str | None]]
"""Returns the text of the response, or None if it has responded itself or there is no response.

A PieError becomes a response that is not ok.
"""


class Connection:
    """A `websocket.Receiver`, and the `Sink` of its attached processes."""

    def __init__(
        self, service: Service, wire: Websocket, identity: Identity, address: str, handlers: dict[type, Handler]
    ) -> None:
        self.service = service
        self.identity = identity
        self.address = address
        self.since = time.time()
        self.attached: dict[str, ProcessRecord] = {}
        self.mcp = ClientServers(self.send, service.settings.mcp_seconds)
        self.programs = ProgramUploads(
            service.settings.upload_bytes, service.settings.upload_pause_seconds, beside=self.beside
        )
        self.uploaded: dict[str, Program] = {}
        self.files = FileUploads(service.settings.upload_bytes, service.settings.upload_pause_seconds)
        self.watcher: Watcher | None = None
        self.tokens = WatchedTokens()
        self._wire = wire
        self._handlers = handlers
        self._outbox = Outbox(self._spare, self._sent)
        self._inbox: asyncio.Queue[bytes] = asyncio.Queue()
        self._inbox_bytes = 0
        self._background: set[asyncio.Task[None]] = set()
        self._limit = asyncio.Event()
        self._slow: asyncio.TimerHandle | None = None
        self._flushing = False
        self._loop = asyncio.get_running_loop()
        self._server = asyncio.create_task(self._serve())
        self._deadline = self._loop.call_later(service.settings.authentication_seconds, self._check_authenticated)
        service.connections.add(self)
        self._adapt()

    @property
    def user(self) -> User:
        """Raises AuthError before authentication."""
        if self.identity.user is None:
            raise _unknown_client()
        return self.identity.user

    @property
    def is_authenticated(self) -> bool:
        return self.identity.user is not None

    # Called by the websocket.

    def received(self, frame: bytes) -> None:
        self._inbox.put_nowait(frame)
        self._inbox_bytes += len(frame)
        if self._inbox.qsize() >= INBOX_FRAMES or self._inbox_bytes >= INBOX_BYTES:
            self._wire.pause_reading()

    def next_frame(self) -> bytes | None:
        return self._outbox.next_frame()

    def closed(self) -> None:
        self.service.connections.discard(self)
        self.service.feed.unsubscribe(self)
        self.service.want_details()
        for timer in (self._slow, self._deadline):
            if timer is not None:
                timer.cancel()
        self._server.cancel()
        for task in self._background:
            task.cancel()
        if self.tokens.process:
            self._keep(asyncio.create_task(self._leave_tokens()))
        self.mcp.close()
        unsent = self._outbox.unsent()
        for process, record in self.attached.items():
            mine = [item for item in unsent if item[0].process == process]
            self.service.registry.detach(record, self, mine)
        self.attached.clear()

    # Called by handlers.

    def send(self, frame: bytes) -> None:
        """Queue a frame."""
        self._outbox.put(frame)
        self.flush()

    def reply(self, request: frames.Request, result: str) -> None:
        self.send(frames.response(request.corr_id, True, result))

    def refuse(self, corr_id: int, error: PieError) -> None:
        hint = {"hint": error.hint} if error.hint else {}
        self.send(frames.response(corr_id, False, error.message, code=error.code, **hint))

    def deliver(self, event: ProcessEvent, data: bytes) -> None:
        """Send an event of an attached process."""
        self._outbox.put_event(event, data)
        self.flush()

    def mcp_servers(self) -> list[str]:
        """Names of the servers this client has announced."""
        return list(self.mcp.announced)

    async def mcp_request(self, process_id: str, server: str, method: str, params_json: str) -> str:
        """Raises McpError."""
        return await self.mcp.request(process_id, server, method, params_json)

    def adopt(self, record: ProcessRecord, replay: list[tuple[ProcessEvent, bytes]], *, launched: bool = False) -> None:
        """Start sending events of a newly attached process, after its response.

        Clients accept files of a process only after reading that response, which a ping confirms. A client may already
        know an attached process, under a queue that the response replaces: then all events wait for the ping.
        """
        self.attached[record.id] = record
        self._outbox.hold(record.id, everything=not launched)
        self._wire.ping(lambda: self._release(record.id))
        self._loop.call_later(self.service.settings.pong_seconds, self._release, record.id)
        for event, data in replay:
            self._outbox.put_event(event, data)
        self.flush()

    def forget(self, record: ProcessRecord) -> None:
        self.attached.pop(record.id, None)
        self.service.registry.detach(record, self)

    def watch(self, watcher: Watcher | None) -> None:
        self.watcher = watcher
        if watcher is None:
            self.service.feed.unsubscribe(self)
        else:
            self.service.feed.subscribe(self, self.flush)
            self.flush()
        self.service.want_details()

    async def watch_tokens(self, process: str) -> None:
        """Receive the tokens of this process, and no longer those of another; of none if it is empty.

        Raises ProcessError for one that is not running.
        """
        await self._leave_tokens()
        if process:
            self.tokens.process = process
            await self.service.engine.consult_all(
                lambda services: (
                    process in services.processes and inspection.watch_tokens(services, process, self.tokens)
                )
            )

    def spawn(self, work: Coroutine[Any, Any, str | None], request: frames.Request) -> None:
        """Answer a request later, without delaying the frames after it."""
        self._keep(asyncio.create_task(self._answer(work, request.corr_id)))

    def give_up_stalled_uploads(self) -> None:
        """Abandon stalled uploads. Called periodically."""
        pause = f"{self.service.settings.upload_pause_seconds:g} s"
        for number in self.programs.stalled():
            self.refuse(number, ProtocolError(f"upload abandoned: no data for {pause}"))
        for process_id, file_hash in self.files.stalled():
            with contextlib.suppress(PieError):
                record = self.service.registry.find(process_id, self.user)
                self.service.registry.notice(record, f"file {file_hash[:16]} abandoned: no data for {pause}")

    async def beside(self, work: Callable[..., T], *given: object) -> T:
        """What `work` answers on another thread, as part of the user's share."""
        return await self.service.registry.loop_shares.aside(self.user.name, work, *given)

    def flush(self) -> None:
        """Write soon; several calls cause one write."""
        if not self._flushing:
            self._flushing = True
            self._loop.call_soon(self._flush)

    def close(self, code: int, reason: str) -> None:
        self._wire.close(code, reason)

    def cut_off(self, code: int, reason: str) -> None:
        """Close without waiting for the client."""
        self._wire.close(code, reason)
        self._wire.abort()

    # Internal.

    def _flush(self) -> None:
        self._flushing = False
        self._wire.flush()
        self._watch_slowness()

    def _watch_slowness(self) -> None:
        if self._outbox.is_full:
            for record in self.attached.values():
                record.hold()
            if self._slow is None:
                self._slow = self._loop.call_later(self.service.settings.slow_reader_seconds, self._give_up)
        elif self._slow is not None:
            self._slow.cancel()
            self._slow = None
            for record in self.attached.values():
                record.resume()

    def writable(self) -> None:
        """The client reads again: resume the processes that were held."""
        self._watch_slowness()

    def _give_up(self) -> None:
        self._wire.flush()
        if not self._outbox.is_full:
            self._watch_slowness()
        else:
            self._slow = None
            self.cut_off(TOO_SLOW, "reading too slowly: attach again to get the missed events")

    def _spare(self) -> bytes | None:
        return self.watcher.next_frame() if self.watcher else None

    def _sent(self, event: ProcessEvent) -> None:
        if isinstance(event, ProcessReturned | ProcessFailed):
            self.attached.pop(event.process, None)

    def _release(self, process: str) -> None:
        self._outbox.release(process)
        self.flush()

    async def _leave_tokens(self) -> None:
        process, self.tokens.process = self.tokens.process, ""
        if process:
            with contextlib.suppress(PieError):  # the engine may have stopped
                await self.service.engine.consult_all(
                    lambda services: inspection.unwatch_tokens(services, process, self.tokens)
                )

    def _keep(self, task: "asyncio.Task[None]") -> None:
        self._background.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: "asyncio.Task[None]") -> None:
        self._background.discard(task)
        self._limit.set()

    async def _serve(self) -> None:
        while True:
            frame = await self._inbox.get()
            while len(self._background) >= UNANSWERED_LIMIT:
                self._limit.clear()
                await self._limit.wait()
            await self._take(frame)
            await asyncio.sleep(0)  # do not delay other clients
            self._inbox_bytes -= len(frame)
            if self._inbox.empty():
                self._wire.resume_reading()

    async def _take(self, data: bytes) -> None:
        """Handle a frame, within its user's share of the loop."""
        user, shares = self.identity.user, self.service.registry.loop_shares
        if user is None or user.admin:
            await self._handle(data)
            return
        if rest_seconds := shares.rest_seconds(user.name):
            await asyncio.sleep(rest_seconds)
        await shares.charging(user.name, partial(self._handle, data))

    async def _handle(self, data: bytes) -> None:
        try:
            frame = frames.decode(data)
        except ProtocolError as error:
            self.service.refused_frames += 1
            self.close(NOT_A_FRAME, error.message)
            return
        if isinstance(frame, frames.Unfit):
            self.service.refused_frames += 1
            self.refuse(frame.corr_id, ProtocolError(frame.reason) if self.is_authenticated else _unknown_client())
            return
        handler = self._handlers[type(frame)]
        if isinstance(frame, frames.Request):
            await self._answer(self._guarded(handler, frame), frame.corr_id)
        elif self.is_authenticated:
            try:
                await handler(self, frame)
            except Exception:
                self._fail()

    async def _guarded(self, handler: Handler, request: frames.Request) -> str | None:
        if not isinstance(request, frames.AuthIdentify | frames.AuthProve | frames.AuthByToken | frames.AuthEngine):
            _ = self.user
        return await handler(self, request)

    async def _answer(self, work: Coroutine[Any, Any, str | None], corr_id: int) -> None:
        try:
            result = await work
        except PieError as error:
            self.refuse(corr_id, error)
        except Exception:
            self._fail()
        else:
            if result is not None:
                self.send(frames.response(corr_id, True, result))
        self._adapt()

    def _fail(self) -> None:
        """An internal error: close, so that the client does not wait for an answer."""
        _log.exception("connection of %s", self.address)
        self.close(FAULT, "internal error: see the engine's log")

    def _adapt(self) -> None:
        """Adjust to whether the client has authenticated, and how often that failed."""
        settings = self.service.settings
        if self.is_authenticated:
            self._wire.allow_frames_of(settings.frame_bytes)
            if not self._deadline.cancelled():
                self._deadline.cancel()
                self._check_share()
        elif self.identity.failures >= settings.failures:
            self._wire.flush()  # sends the last refusal
            self.close(NOT_AUTHENTICATED, "too many failed authentications")

    def _check_share(self) -> None:
        """With authentication on, a user who is not an administrator gets at most half of all connections."""
        settings, user = self.service.settings, self.user
        if not settings.authentication or user.admin:
            return
        mine = sum(other.is_authenticated and other.user == user for other in self.service.connections)
        if mine > settings.connections // 2:
            self.close(TRY_LATER, f"user '{user.name}' has {mine - 1} connections: close some")

    def _check_authenticated(self) -> None:
        if not self.is_authenticated:
            self.close(NOT_AUTHENTICATED, "not authenticated in time: connect again and send auth_identify")


def _unknown_client() -> AuthError:
    return AuthError("Not authenticated: send auth_identify or auth_by_token first")
