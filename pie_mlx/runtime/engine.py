"""An engine inside this process, for scripts, notebooks and tests."""

import asyncio
import concurrent.futures
import inspect
import socket
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from pie_mlx.engine.engine import EngineCore
from pie_mlx.engine.hosting.ports import HttpPort
from pie_mlx.engine.policies import AdmissionTerms
from pie_mlx.engine.services import Services
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import EngineStoppedError
from pie_mlx.events import Event, PageUsage, ProcessEvent, WantedDetails
from pie_mlx.runtime.children import (
    ChildRequest,
    FailureReport,
    LaunchedProcess,
    LaunchLimits,
    ProcessTree,
    ResolveName,
    StartChild,
)
from pie_mlx.runtime.children.launch_tree import LaunchTree
from pie_mlx.runtime.children.program_lookup import paths_only
from pie_mlx.runtime.engine_models import Models, settings_of
from pie_mlx.runtime.event_relay import EventRelay
from pie_mlx.runtime.execution.entry import Entry, Main, function_entry, program_entry
from pie_mlx.runtime.execution.local_session import LocalSession
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.execution.process_events import LaunchCallbacks, ProcessEventQueue
from pie_mlx.runtime.mcp import McpRelay, McpServer, McpServers, McpServerState
from pie_mlx.runtime.mcp.servers import DEFAULT_TIMEOUT_SECONDS
from pie_mlx.runtime.prepared_launch import PreparedLaunch
from pie_mlx.runtime.program.inputs import fitting_input, plain_input
from pie_mlx.runtime.program.program import Program, find_program
from pie_mlx.runtime.program_ports import ProgramPorts
from pie_mlx.runtime.recording.recorder import ProcessRecorder, Recorder
from pie_mlx.runtime.worker.compiled.preparing import prepare
from pie_mlx.runtime.worker.frames.messages import Draws
from pie_mlx.runtime.worker.pool import WorkerPool, check_sandbox, find_route
from pie_mlx.runtime.worker.proxy_route import Route
from pie_mlx.runtime.worker.settings import Isolation, WorkerSettings, checked_isolation
from pie_mlx.trace.traceparent import parse_traceparent

Answer = TypeVar("Answer")

Launchable = Main | Program | Entry | str | Path
"""An `async def main(input)`, a program, an entry, or the path of a Python file or of a directory with main.py."""


class Engine:
    """One or several models with their pages, shared by every program run on it.

        async with Engine("pie-tiny") as engine:
            answer = await engine.run(main, {"prompt": "..."})

    `model` is a directory, a repo id or `pie-tiny`, and the keywords are the other fields of `EngineSettings`; or it is
    an EngineSettings, or several for as many models, the default one first, each changed by the keywords; `aliases` are
    other names for them. `on_event` is called with every event, in order, on the loop that
    entered the engine. With `isolation="process"` each program runs in its own process, bounded by `workers`;
    functions cannot leave their interpreter and always run in this one. All programs can use the `mcp` servers;
    `resolve` finds the programs that programs launch by name. A `recorder` records every process. `details` are kinds
    of events that are emitted only when asked for (`events.DETAIL_KINDS`); with `joins_traces` MCP servers learn of
    which trace a call is a part. Raises InvalidArgumentError for an unknown keyword; entering raises ModelError and its
    kin.
    """

    def __init__(
        self,
        model: str | Path | EngineSettings | Sequence[EngineSettings] = "pie-tiny",
        *,
        aliases: Mapping[str, str] | None = None,
        on_event: Callable[[Event], None] | None = None,
        progress: Callable[[str], None] | None = None,
        isolation: Isolation = "inline",
        workers: WorkerSettings | None = None,
        mcp: Sequence[McpServer] = (),
        mcp_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        launch_limits: LaunchLimits | None = None,
        resolve: ResolveName = paths_only,
        recorder: Recorder | None = None,
        details: Iterable[str] = (),
        joins_traces: bool = False,
        **settings: Any,
    ) -> None:
        self.details = WantedDetails(details)
        self._settings, self._aliases = settings_of(model, settings), aliases
        self._on_event = on_event
        self._progress: Callable[[str], None] = progress or (lambda line: None)
        self._isolation = checked_isolation(isolation)
        self._worker_settings = workers or WorkerSettings()
        self._workers: WorkerPool | None = None
        self._core: EngineCore | None = None
        self._events: EventRelay | None = None
        self._processes: set[Process] = set()
        self._stopping = False
        self._recorder = recorder
        self._recorders: dict[str, Recorder] = {}
        self._ports = ProgramPorts(
            ProcessTree(LaunchTree(launch_limits or LaunchLimits()), resolve, self._start_child),
            McpServers(mcp, timeout_seconds=mcp_timeout_seconds, emit=self._emit),
            mcp_timeout_seconds,
            self._emit,
            self.details,
            joins_traces=joins_traces,
        )

    async def __aenter__(self) -> Self:
        if self._on_event is not None:
            self._events = EventRelay(asyncio.get_running_loop(), self._on_event)
        route: Route = "closed"
        if self._isolation == "process":
            await check_sandbox(self._worker_settings)
            route = await find_route(self._worker_settings)
        core = EngineCore(
            self._settings, emit=self._emit, details=self.details, progress=self._progress, aliases=self._aliases
        )
        if self._isolation == "process":
            # Its interpreter starts while the model loads.
            self._workers = WorkerPool(core.loop, self._worker_settings, route, self._emit)
        try:
            await core.start()
        except BaseException:
            if self._workers is not None:
                self._workers.abandon()
            raise
        self._core = core
        if self._events is not None:
            self._events.flush()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Cancel what is running, release everything, free the device. Idempotent."""
        self._stopping = True
        running = list(self._processes)
        for process in running:
            process.cancel("Engine stopped")
        await asyncio.gather(*(process.outcome() for process in running))
        await self._ports.close()
        if self._workers is not None:
            await self._workers.stop()
        if self._core is not None:
            await self._core.stop()
        if self._events is not None:
            self._events.flush()

    async def run(self, program: Launchable, input: Any = None, **options: Any) -> Any:
        """Run a program to its end and return its value as decoded JSON.

        `options` are those of `launch`. Nothing can be sent to the program, so a program that waits for a message gets
        SessionClosedError. Cancelling cancels the program. Raises the exception that ended it.
        """
        process = await self.launch(program, input, **options)
        process.close_session()
        try:
            return await process.result()
        except asyncio.CancelledError:
            process.cancel()
            await process.outcome()
            raise

    async def launch(
        self,
        program: Launchable,
        input: Any = None,
        *,
        on_message: Callable[[Any], None] | None = None,
        on_file: Callable[[bytes, str], None] | None = None,
        on_event: Callable[[ProcessEvent], None] | None = None,
        capture_output: bool = False,
        username: str = "local",
        token_budget: int | None = None,
        process_id: str | None = None,
        parent: str | None = None,
        relay: McpRelay | None = None,
        http: HttpPort | None = None,
        debugger: socket.socket | None = None,
        recorder: Recorder | None = None,
        draws: Draws | None = None,
        model: str = "",
    ) -> Process:
        """Start a program; it runs beside the caller.

        `on_message` gets each message (a str, or decoded JSON), `on_file` the bytes and the name of each file,
        `on_event` every event of the process; all on the caller's loop, in order. With `capture_output` the program's
        output becomes events, otherwise it goes to this interpreter's own streams. `token_budget` bounds the tokens it
        may run; `process_id` is an unused UUID, None draws one. With a `parent`, the id of a running process, the new
        one is its child: it pays from the parent's wallet, ends with it, and has its default model unless it names a
        `model`. `relay` carries calls to MCP servers of a client; `http` is the request it answers. One in a process of
        its own begins when a debugger that speaks DAP has connected to the listening socket `debugger`, and may then
        take any time. A `recorder` records it and its children; with the `draws` of a recording it goes on live from
        where it differs. Raises LaunchError, ModelNotFoundError, and InvalidArgumentError for a budget below 1.
        """
        entry = program if isinstance(program, Entry) else await asyncio.to_thread(_entry, program)
        await prepare(entry, self._workers.components if self._workers else None)
        value = fitting_input(entry.parameters, plain_input(input), entry.identity)
        launch = PreparedLaunch(entry, value, username, token_budget, parent, http, capture_output, debugger, draws)
        event_queue = self._event_queue(launch, on_message, on_file, on_event)
        session, process_id = LocalSession(event_queue), process_id or str(uuid.uuid4())
        record = await self._recording(process_id, launch, recorder)
        member = LaunchedProcess(username, entry.program, relay, asked_by=parse_traceparent(launch.traceparent))
        with self._ports.entering(process_id, member, parent, http) as ports:
            host = self._launching_core().open_process(
                username=username,
                program=entry.identity,
                session=session,
                token_budget=token_budget,
                process_id=process_id,
                parent=parent,
                ports=ports,
                tap=record,
                model=model,
            )
        process = Process(host.process_id, session, event_queue, http)
        self._processes.add(process)
        event_queue.deliver(launch.event(process.id))
        make_executor = launch.executor(self._workers, host, event_queue, record)
        process.start(make_executor, partial(self._release, process))
        self._ports.attend(process)
        return process

    def admission_terms(self) -> AdmissionTerms:
        """How much of the pool launches may claim. For admission control: `launch` itself never queues (Q11)."""
        return self._running_core().admission_terms()

    def endowment(self, token_budget: int | None) -> float:
        """The credits a launch starts with. Raises InvalidArgumentError for a budget below 1."""
        return self._running_core().endowment(token_budget)

    async def page_usage(self) -> PageUsage:
        """Current use of the page pool. Raises EngineStoppedError."""
        return await self._running_core().page_usage()

    async def consult(self, question: Callable[[Services], Answer], model: str = "") -> Answer:
        """The result of `question` about a model, the default one without a name, run on the engine's loop, which it
        must not block. Raises EngineStoppedError, ModelNotFoundError, and ModelError while it is not in memory."""
        return await self._running_core().consult(question, model)

    async def consult_all(self, question: Callable[[Services], Answer]) -> list[Answer]:
        """The same about every model in memory, in their order."""
        return await self._running_core().consult_all(question)

    @property
    def models(self) -> Models:
        """The engine's models: their states, and what loads and unloads them. Raises EngineStoppedError."""
        return Models(self._running_core())

    def mcp_servers(self) -> list[McpServerState]:
        """The approximate current state of the configured MCP servers."""
        return self._ports.mcp.states()

    def close_port(self, port: int) -> None:
        """Close a port of this machine to programs, whatever hosts they may reach."""
        if self._workers is not None:
            self._workers.close_port(port)

    def start_children_with(self, start: StartChild) -> None:
        """Have `start` start the children of programs. It must call `launch` with the request's parent and id."""
        self._ports.process_tree.start = start

    async def _start_child(self, request: ChildRequest) -> Process:
        """Start a child without a client: its session is closed, and its output becomes events."""
        process = await self.launch(
            request.program,
            request.input,
            username=request.username,
            parent=request.parent,
            process_id=request.process_id,
            capture_output=True,
        )
        process.close_session()
        return process

    def _event_queue(
        self,
        launch: PreparedLaunch,
        on_message: Callable[[Any], None] | None,
        on_file: Callable[[bytes, str], None] | None,
        on_event: Callable[[ProcessEvent], None] | None,
    ) -> ProcessEventQueue:
        """What carries the events of a launch to its callbacks, to the engine's, and failures to its parent."""
        tell, on_engine_event = self._ports.process_tree.tell_launcher, self._events and self._events.deliver
        report = FailureReport(launch.entry.identity, partial(tell, launch.parent)) if launch.parent else None
        callbacks = LaunchCallbacks(on_message, on_file, on_event, on_engine_event, report)
        return ProcessEventQueue(asyncio.get_running_loop(), callbacks)

    async def _recording(
        self, process_id: str, launch: PreparedLaunch, recorder: Recorder | None
    ) -> ProcessRecorder | None:
        """Where a process is recorded: with its own `recorder`, that of its parent, or the engine's."""
        recorder = recorder or self._recorders.get(launch.parent or "", self._recorder)
        if recorder is None:
            return None
        self._recorders[process_id] = recorder
        in_worker = launch.needs_worker(self._workers)
        return await recorder.process(process_id, launch.parent, launch.entry, launch.value, draws=in_worker)

    def _launching_core(self) -> EngineCore:
        if self._stopping:
            raise EngineStoppedError("engine: it is stopping", hint="start another engine")
        return self._running_core()

    def _running_core(self) -> EngineCore:
        if self._core is None:
            raise EngineStoppedError("engine: it is not running", hint="enter it with 'async with'")
        return self._core

    async def _release(self, process: Process) -> None:
        process.reuse = await self._running_core().close_process(process.id)
        self._processes.discard(process)
        self._recorders.pop(process.id, None)

    def _emit(self, event: Event) -> None:
        """From any thread."""
        if self._events is not None:
            self._events.post(event)


def run(program: Launchable, input: Any = None, *, model: str | Path = "pie-tiny", **options: Any) -> Any:
    """Start an engine, run one program, stop the engine, and return the program's value.

    `options` are those of `Engine` and of `Engine.launch`. Works inside a running loop too (notebooks): the engine then
    gets a loop on a thread of its own.
    """
    work = partial(_run_once, program, input, model, options)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="pie-run") as pool:
        return pool.submit(lambda: asyncio.run(work())).result()


async def _run_once(program: Launchable, input: Any, model: str | Path, options: dict[str, Any]) -> Any:
    launching = {name: options[name] for name in options if name in _LAUNCH_OPTIONS}
    starting = {name: options[name] for name in options if name not in _LAUNCH_OPTIONS}
    async with Engine(model, **starting) as engine:
        return await engine.run(program, input, **launching)


_LAUNCH_OPTIONS = frozenset(inspect.signature(Engine.launch).parameters) - {"self", "program", "input", "on_event"}


def _entry(program: Launchable) -> Entry:
    if isinstance(program, Entry):
        return program
    program = find_program(Path(program)) if isinstance(program, str | Path) else program
    return program_entry(program) if isinstance(program, Program) else function_entry(program)
