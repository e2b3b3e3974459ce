"""A client of a running engine."""

import asyncio
import contextlib
import json
import weakref
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from blake3 import blake3

from pie_mlx.client import frames
from pie_mlx.client.connection import Connection, open_socket
from pie_mlx.client.engine_models import EngineModels
from pie_mlx.client.inputs import input_text, record_text
from pie_mlx.client.login import log_in, proved_key
from pie_mlx.client.mcp_servers import StdioServer, error_json, failure
from pie_mlx.client.process import Delivery, Download, RemoteProcess, as_event
from pie_mlx.client.watch import Watch, WatchQueue
from pie_mlx.errors import McpError, PieError, SessionClosedError
from pie_mlx.events import ProcessFailed, ProcessReturned
from pie_mlx.wire_text import clean_text

SHOWN_ID_CHARACTERS = 8


class Client:
    """Use `async with connect(...) as client`. All methods raise SessionClosedError when the connection is lost.

    A refusal by the server is raised as the error it names.
    """

    def __init__(self) -> None:
        self._url = ""
        self._connection: Connection
        self._queues: dict[str, asyncio.Queue[Delivery]] = {}
        self._downloads: dict[tuple[str, str], Download] = {}
        # Weak, so that events without a reader are not kept.
        self._watched: weakref.ref[WatchQueue] | None = None
        self._watches = 0
        self._mcp: dict[str, StdioServer] = {}
        self._background: set[asyncio.Task[None]] = set()

    async def open(self, url: str, unix_socket: str | None = None) -> None:
        """Connect. Raises SessionClosedError when no engine answers."""
        self._url = url
        self._connection = Connection(await open_socket(url, unix_socket), self._on_frame, self._on_lost)
        self.models = EngineModels(self._connection)

    async def close(self) -> None:
        """Disconnect; processes keep running, MCP servers of this client end. Idempotent."""
        for task in self._background:
            task.cancel()
        await self._connection.close()
        servers, self._mcp = self._mcp, {}
        await asyncio.gather(*(server.close() for server in servers.values()))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    async def authenticate(self, username: str, key_file: Path | None = None, *, allow_unbound: bool = False) -> None:
        """Log in. Raises AuthError when the server asks for a key and there is none, or refuses it, and EngineKeyError
        when it is not the engine that `known_engines` beside the key has at this address.

        `allow_unbound` logs in to engines of the first release, which could use the signature to log in elsewhere.
        """
        await log_in(self._connection, self._url, username, key_file, allow_unbound=allow_unbound)

    async def engine_key(self) -> bytes:
        """The public key of the engine, proved. Raises EngineKeyError where it has none."""
        return await proved_key(self._connection)

    async def authenticate_by_token(self, token: str, username: str | None = None) -> None:
        """Log in with the engine's internal token, as an administrator. Raises AuthError."""
        await self._connection.ask("auth_by_token", token=token, username=username)

    async def ping(self) -> None:
        await self._connection.ask("ping")

    async def query(self, subject: str, **record: Any) -> dict[str, Any]:
        """The engine's answer about a subject. Raises InvalidArgumentError for a record that JSON cannot hold."""
        text = record_text(subject, record)
        return json.loads(await self._connection.ask("query", subject=subject, record=text))

    async def processes(self, *, all: bool = False, id_prefix: str = "") -> list[dict[str, Any]]:
        """Live processes this user may see; with `all` also recently ended ones."""
        found: list[dict[str, Any]] = []
        after = ""
        while True:
            page = await self.query("processes", all=all, id_prefix=id_prefix, after=after)
            found += page["processes"]
            if page["next"] is None:
                return found
            after = page["next"]

    async def install(self, payload: bytes, manifest: str, *, force: bool = False, keep: bool = True) -> None:
        """Upload a program: Python source or a package. Raises LaunchError.

        With `keep` false it is not installed: only this client can launch it, by `name@version`.
        """
        number = self._connection.next_number()
        answer = self._connection.expect(number)
        pieces = frames.chunks(payload)
        for index, piece in enumerate(pieces):
            await self._connection.send(
                "add_program",
                corr_id=number,
                program_hash=blake3(payload).hexdigest(),
                manifest=manifest,
                force_overwrite=force,
                keep=keep,
                chunk_index=index,
                total_chunks=len(pieces),
                chunk_data=piece,
            )
        await answer

    async def remove(self, name: str, version: str) -> None:
        """Remove a program. Raises LaunchError if it is not installed or another program needs it."""
        await self._connection.ask("remove_program", name=name, version=version)

    async def launch(
        self,
        program: str,
        input: Any = None,
        *,
        attach: bool = True,
        token_budget: int | None = None,
        model: str | None = None,
    ) -> RemoteProcess:
        """Start an installed program, `name` or `name@version`, with `model` as its default one, None for the engine's.
        Raises LaunchError and ModelNotFoundError.

        When this is cancelled, a process that was already started is terminated, because the caller has no id for it.
        """
        text = input_text(input)
        started: list[RemoteProcess] = []
        start = self._process if attach else self._unattached
        await self._connection.ask(
            "launch_process",
            on_result=lambda process_id: started.append(start(process_id)),
            undo=lambda process_id: self._terminate_all([process_id]),
            inferlet=program,
            input=text,
            capture_outputs=attach,
            token_budget=token_budget,
            **({} if model is None else {"model": model}),  # engines of the first release do not know it
        )
        return started[0]

    async def launch_all(
        self, program: str, inputs: Sequence[Any], *, attach: bool = True, budgets: Sequence[int | None] | None = None
    ) -> list[RemoteProcess]:
        """Start a program once for each input: all or none, even if this is cancelled. Raises LaunchError."""
        started: list[RemoteProcess] = []
        start = self._process if attach else self._unattached
        await self._connection.ask(
            "launch_processes",
            on_result=lambda result: started.extend(map(start, json.loads(result))),
            undo=lambda result: self._terminate_all(json.loads(result)),
            inferlet=program,
            inputs=[input_text(item) for item in inputs],
            capture_outputs=attach,
            token_budgets=None if budgets is None else list(budgets),
        )
        return started

    async def launch_daemon(self, program: str, port: int, input: Any = None) -> str:
        """Let an installed program answer HTTP on a port of the engine's machine, until the engine stops.

        Returns a text. With authentication it names the header that every request needs.

        Raises LaunchError, InvalidArgumentError for a port out of range, and an error that names a port in use.
        """
        text = input_text(input)
        return await self._connection.ask("launch_daemon", inferlet=program, port=port, input=text)

    async def attach(self, process_id: str) -> RemoteProcess:
        """Attach to a process. Missed events come first. Raises ProcessError."""
        attached: list[RemoteProcess] = []
        await self._connection.ask(
            "attach_process", on_result=lambda _: attached.append(self._process(process_id)), process_id=process_id
        )
        return attached[0]

    async def detach(self, process_id: str) -> None:
        """Detach from a process. Its reader gets the events received so far, then SessionClosedError."""
        await self._connection.ask("detach_process", process_id=process_id)
        queue = self._queues.pop(process_id, None)
        if queue is not None:
            queue.put_nowait(_end_reason(process_id, SessionClosedError("detached: no more events come here")))

    async def terminate(self, process_id: str) -> None:
        await self._connection.ask("terminate_process", process_id=process_id)

    async def set_bid(self, process_id: str, bid: float) -> None:
        """Bid credits per page and tick for all contexts of a process, until its next pass makes a new bid."""
        await self._connection.ask("set_bid", process_id=process_id, bid=bid)

    async def suspend(self, process_id: str) -> None:
        """Release a process's pages until it uses them again. Raises ContextBusyError."""
        await self._connection.ask("suspend_process", process_id=process_id)

    async def signal(self, process_id: str, message: str) -> None:
        """Send a message, without confirmation. A lone surrogate, which the wire cannot carry, arrives as U+FFFD."""
        await self._connection.send("signal_process", process_id=process_id, message=clean_text(message))

    async def close_session(self, process_id: str) -> None:
        """Announce that no more messages follow, without confirmation."""
        await self._connection.send("close_session", process_id=process_id)

    async def send_file(self, process_id: str, data: bytes) -> None:
        """Send a file. A refusal arrives as a notice on the process's standard error."""
        pieces = frames.chunks(data)
        for index, piece in enumerate(pieces):
            await self._connection.send(
                "transfer_file",
                process_id=process_id,
                file_hash=blake3(data).hexdigest(),
                chunk_index=index,
                total_chunks=len(pieces),
                chunk_data=piece,
            )

    async def register_mcp_server(
        self, name: str, command: str, args: Sequence[str] = (), env: Mapping[str, str] | None = None
    ) -> None:
        """Start an MCP server here, for the programs that this client is attached to. It gets the variables `env`
        besides those of this process. Raises McpError."""
        server = await StdioServer.start(name, command, list(args), env or {})
        earlier = self._mcp.get(name)
        self._mcp[name] = server
        if earlier is not None:
            await earlier.close()
        await self._connection.ask(
            "register_mcp_server", name=name, transport="stdio", command=command, args=list(args), url=None
        )

    async def watch(self, since: int | None = None, kinds: Sequence[str] | None = None) -> Watch:
        """Watch the engine's events; `since` adds earlier events after that number, as far as the engine keeps them.

        An earlier watch of this client ends.
        """
        self._watches += 1
        number = self._watches
        queue: WatchQueue = asyncio.Queue()
        snapshot = await self._connection.ask(
            "watch_events",
            on_result=lambda _: self._use_watch(queue),
            since=since,
            kinds=None if kinds is None else list(kinds),
        )
        return Watch(json.loads(snapshot), self._watch(queue, number))

    async def watch_tokens(self, process_id: str = "") -> None:
        """Watch the tokens of one process too, or of none. Raises ProcessError if it is not running, or refuses."""
        await self._connection.ask("watch_tokens", process_id=process_id)

    def _use_watch(self, queue: WatchQueue) -> None:
        """The server sends the events of one watch only: those after this response belong to the new one."""
        self._put_watched(
            SessionClosedError("this client started another watch", hint="connect once more for a second watch")
        )
        self._watched = weakref.ref(queue)

    def _put_watched(self, item: frames.EngineEvent | PieError) -> None:
        queue = None if self._watched is None else self._watched()
        if queue is not None:
            queue.put_nowait(item)

    async def _watch(self, queue: WatchQueue, number: int) -> AsyncGenerator[frames.EngineEvent, None]:
        try:
            while True:
                event = await queue.get()
                if isinstance(event, PieError):
                    raise event
                yield event
        finally:
            if number == self._watches:  # else it would stop a later watch
                await self._post("unwatch_events")

    async def _post(self, type: str, **fields: Any) -> None:
        """Send a request and ignore its response, and a lost connection."""
        with contextlib.suppress(SessionClosedError):
            await self._connection.send(type, corr_id=self._connection.next_number(), **fields)

    def _process(self, process_id: str) -> RemoteProcess:
        """A process whose events are kept from now on: it may end before its caller resumes."""
        self._queues[process_id] = asyncio.Queue()
        return RemoteProcess(process_id, self, self._queues[process_id])

    def _unattached(self, process_id: str) -> RemoteProcess:
        """A process whose events the server does not send to this client."""
        queue: asyncio.Queue[Delivery] = asyncio.Queue()
        hint = f"leave out attach=False, or attach: 'pie attach {process_id[:SHOWN_ID_CHARACTERS]}'"
        queue.put_nowait(SessionClosedError("launched without attaching: no events come here", hint=hint))
        return RemoteProcess(process_id, self, queue)

    def _terminate_all(self, process_ids: list[str]) -> None:
        for process_id in process_ids:
            self._queues.pop(process_id, None)
            self._spawn(self._post("terminate_process", process_id=process_id))

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    def _on_frame(self, frame: frames.AnyServerFrame) -> None:
        match frame:
            case frames.ProcessEvent():
                self._deliver(frame.process_id, (as_event(frame), b""))
            case frames.File():
                self._receive(frame)
            case frames.EngineEvent():
                self._put_watched(frame)
            case frames.McpRequest():
                self._spawn(self._answer(frame))
            case frames.Response():
                pass

    def _deliver(self, process_id: str, delivery: tuple[Any, bytes]) -> None:
        queue = self._queues.get(process_id)
        if queue is not None:
            queue.put_nowait(delivery)
            if isinstance(delivery[0], ProcessReturned | ProcessFailed) and self._queues.get(process_id) is queue:
                del self._queues[process_id]

    def _receive(self, frame: frames.File) -> None:
        key = (frame.process_id, frame.file_hash)
        if frame.chunk_index == 0:
            self._downloads[key] = Download([])
        download = self._downloads.get(key)
        if download is not None and (whole := download.add_chunk(frame)) is not None:
            del self._downloads[key]
            self._deliver(frame.process_id, whole)

    async def _answer(self, request: frames.McpRequest) -> None:
        try:
            server = self._mcp.get(request.server_name)
            if server is None:
                raise failure(-32000, f"MCP server '{request.server_name}' is not registered here")
            result = json.dumps(await server.request(request.method, json.loads(request.params)))
            ok = True
        except McpError as error:
            ok, result = False, error_json(error)
        await self._connection.send("mcp_response", corr_id=request.corr_id, ok=ok, result=result)

    def _on_lost(self, reason: PieError) -> None:
        queues, self._queues = self._queues, {}
        for process_id, queue in queues.items():
            queue.put_nowait(_end_reason(process_id, reason))
        self._put_watched(reason)


def _end_reason(process_id: str, reason: PieError) -> PieError:
    """Why the events of a running process end here, with a hint how to see the others."""
    if not isinstance(reason, SessionClosedError):
        return reason
    return SessionClosedError(reason.message, hint=f"attach again: 'pie attach {process_id[:SHOWN_ID_CHARACTERS]}'")


async def connect(
    url: str = "ws://127.0.0.1:8080",
    *,
    unix_socket: str | None = None,
    username: str | None = None,
    key_file: Path | None = None,
    token: str | None = None,
    allow_unbound: bool = False,
) -> Client:
    """A connected client that has logged in. `unix_socket` is preferred to `url` and needs no key.

    Raises SessionClosedError when no engine answers, and what `Client.authenticate` raises.
    """
    client = Client()
    await client.open(url, unix_socket)
    try:
        if token is not None:
            await client.authenticate_by_token(token, username)
        elif username is not None:
            await client.authenticate(username, key_file, allow_unbound=allow_unbound)
    except BaseException:
        await client.close()
        raise
    return client
