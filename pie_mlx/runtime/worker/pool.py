"""All workers of an engine: running ones, and idle ones forked ahead."""

import asyncio
import contextlib
import itertools
import json
import os
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import msgspec

from pie_mlx.engine.hosting.process import ProcessHost
from pie_mlx.errors import EngineStoppedError, LaunchError
from pie_mlx.events import Event, HttpFetched
from pie_mlx.files import disk_hint
from pie_mlx.open_files import raise_limit
from pie_mlx.runtime.execution.output_capture import StreamName, Write, real_stream
from pie_mlx.runtime.execution.process import Report
from pie_mlx.runtime.execution.process_events import ProcessEventQueue
from pie_mlx.runtime.file_tree import remove_tree
from pie_mlx.runtime.javascript.program import NodeProgram, StrippedTypes, dependency_mains
from pie_mlx.runtime.network.allowed_hosts import AllowedHosts
from pie_mlx.runtime.network.gateway import Gateway
from pie_mlx.runtime.network.request_head import RequestHead
from pie_mlx.runtime.network.settings import NetworkSettings
from pie_mlx.runtime.program.parameters import Input
from pie_mlx.runtime.program.program import Program
from pie_mlx.runtime.sandbox.probe import probe_network, probe_sandbox
from pie_mlx.runtime.worker.call_dispatcher import CallMemory
from pie_mlx.runtime.worker.compiled.cache import CompiledComponents
from pie_mlx.runtime.worker.compiled.preparing import compiled_form
from pie_mlx.runtime.worker.executor import ExecutorCallbacks, WorkerExecutor
from pie_mlx.runtime.worker.fork_server import Exit, ForkServer
from pie_mlx.runtime.worker.frames.messages import Draws, LaunchSpec, NodeLaunch, ProgramLocation
from pie_mlx.runtime.worker.frames.receive_budget import ReceiveBudget
from pie_mlx.runtime.worker.frames.turns import FrameTurns
from pie_mlx.runtime.worker.link import WorkerLink
from pie_mlx.runtime.worker.node_workers import NodeWorkers
from pie_mlx.runtime.worker.priorities import weigh, weigh_session
from pie_mlx.runtime.worker.proxy_route import Route, authorization
from pie_mlx.runtime.worker.settings import WorkerSettings
from pie_mlx.runtime.worker.starting import StartGate
from pie_mlx.runtime.worker.watch.processors import ProcessorWatch, processor_seconds
from pie_mlx.runtime.worker.watch.threads import ThreadWatch
from pie_mlx.runtime.worker.watch.watchdog import Watchdog
from pie_mlx.runtime.worker.workspaces import TemporaryRoot, scratch_directory, sweep

REFILL_SECONDS = 0.02
"""Delay before forking a replacement: a launch needs the processor first."""

_USUAL_VARIABLES = ("PATH", "LANG", "TZ")


async def check_sandbox(settings: WorkerSettings) -> None:
    """Raises LaunchError if a sandbox is required and not enforced."""
    if settings.sandbox != "required":
        return
    report = await asyncio.to_thread(probe_sandbox)
    if not report.open and not report.allowed_works:
        raise LaunchError(
            f"sandbox: programs cannot work in it: {report.reason}",
            hint="set [runtime] sandbox = 'off' to run without it",
        )
    if not report.holds:
        raise LaunchError(
            f"sandbox: tried and not stopped: {', '.join(report.open) or report.reason}",
            hint="set [runtime] sandbox = 'best-effort' to run without it",
        )


async def find_route(settings: WorkerSettings) -> Route:
    """How programs reach their proxies.

    Raises LaunchError if a sandbox is required and not enforced, ConfigError for invalid hosts.
    """
    if settings.network is None:
        return "closed"
    AllowedHosts(settings.network.allowed_hosts)
    if settings.sandbox == "off":
        return "port"
    report = await asyncio.to_thread(probe_network)
    if settings.sandbox == "required" and not report.holds:
        raise LaunchError(
            f"sandbox: programs get past their proxy: {report.reason}",
            hint="set [runtime] sandbox = 'best-effort' or allow_network = false",
        )
    return "namespace" if report.holds and sys.platform == "linux" else "port"


class WorkerPool:
    """Forks workers ahead and assigns them to launches.

    Construction, `executor`, `close_port` and `stop` may run on any thread; the rest belongs to `loop`. Programs reach
    their proxies by `route`, from `find_route`. `emit` gets their requests to hosts, on any thread.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settings: WorkerSettings,
        route: Route = "closed",
        emit: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self._loop, self._emit, self._settings = loop, emit, settings
        self._route: Route = route
        self._gateway = Gateway(settings.network or NetworkSettings(()))
        self._numbers = itertools.count(1)
        self._receive_budget = ReceiveBudget(loop)
        self._call_memory = CallMemory()
        self._running: dict[int, WorkerExecutor] = {}
        self._idle: dict[int, WorkerLink] = {}
        self._nodes = NodeWorkers(self._fork, lambda: self._spec_in(self._workspace("", "")))
        self._types = StrippedTypes()
        self._process_ids: dict[int, int] = {}
        self._refill_timer: asyncio.TimerHandle | None = None
        self._users: Counter[str] = Counter()
        """How many workers each user has, who has some."""
        self.gate = StartGate(loop, lambda: self._users, processor_seconds)
        self.frame_turns = FrameTurns(loop, lambda: len(self._users) > 1)
        self._stopped = False
        raise_limit()
        self._root = TemporaryRoot()
        self.components = CompiledComponents(Path(settings.compiled_directory or self._root.path / "compiled"))
        self._server = self._start_server()
        watchdog = Watchdog(loop, settings, self._running, lambda: self._server.socket_inode)
        processors = ProcessorWatch(loop, self._running, weigh_session=partial(weigh_session, self.server_process_id))
        self._watches = (watchdog, ThreadWatch(loop, self._running), processors)
        loop.call_soon_threadsafe(self._open)

    @property
    def server_process_id(self) -> int:
        """The process id of the fork server."""
        return self._server.process_id

    @property
    def is_lost(self) -> bool:
        """Whether the fork server has died."""
        return self._server.is_lost

    def running(self) -> list[WorkerExecutor]:
        """The executors that have a worker."""
        return list(self._running.values())

    def idle_process_ids(self) -> list[int]:
        """The process ids of idle workers."""
        idle = [*self._idle, *self._nodes.idle]
        return [self._process_ids[number] for number in idle if number in self._process_ids]

    def executor(
        self,
        program: Program,
        input: Input,
        username: str,
        host: ProcessHost,
        event_queue: ProcessEventQueue,
        write: Write | None,
        debugger: socket.socket | None,
        report: Report,
        *,
        node: NodeProgram | None = None,
        draws: Draws | None = None,
        clock_read: Callable[[int], None] | None = None,
    ) -> WorkerExecutor:
        """An executor for `program`, which a client of the listening socket `debugger` may debug.

        With `write` None, its output goes to the streams of this interpreter. A `node` program runs in Node. With
        `draws` it can be replayed: `clock_read` gets the times at which it reads a clock.
        """
        make = self._launch_spec if node is None else partial(self._node_spec, node)
        spec = partial(make, program, input, username, draws)
        keep_types = None if node is None else partial(self._types.put, node.types_key)
        callbacks = ExecutorCallbacks(
            write or _to_own_stream, report, event_queue.after_delivery, clock_read, keep_types
        )
        memory = self._call_memory.of(username)
        return WorkerExecutor(self._loop, self, spec, host, callbacks, memory, username, debugger)

    async def stop(self) -> None:
        """Kill every worker and wait until all have exited. Idempotent."""
        if self._stopped:
            return
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._close(), self._loop))
        await self._gateway.close()
        await asyncio.to_thread(self._server.wait)
        await asyncio.to_thread(self._root.remove)

    def abandon(self) -> None:
        """Kill every worker after a failed start, when `loop` is closed already."""
        self._server.hang_up()
        self._server.wait()
        for link in [*self._idle.values(), *(one.link for one in self._nodes.idle.values())]:
            link.close()
        self._root.remove()

    def assign_worker(self, executor: WorkerExecutor) -> WorkerLink:
        """A worker that waits for its launch spec. Raises EngineStoppedError and LaunchError."""
        if self._stopped:
            raise EngineStoppedError("engine: it has stopped", hint="start another engine")
        if self.is_lost:
            raise LaunchError("fork server: it does not start", hint="see its messages on standard error")
        link = self._worker_for(executor.spec)
        self._running[link.number] = executor
        self._users[executor.username] += 1
        executor.process_id = self._process_ids.get(link.number)
        weigh(self._running.values())
        self._refill_timer = self._refill_timer or self._loop.call_later(REFILL_SECONDS, self._refill)
        return link

    def _worker_for(self, spec: LaunchSpec | None) -> WorkerLink:
        if spec is None or spec.node is None:
            return self._idle.pop(next(iter(self._idle))) if self._idle else self._fork()
        return self._nodes.taken(spec) or self._nodes.started(spec)

    def close_port(self, port: int) -> None:
        """Close a port of this machine to programs."""
        self._gateway.close_port(port)

    def open_proxy(self, process: str, listener: socket.socket, password: str = "") -> Callable[[], None]:
        """Serve a proxy for `process` on `listener`; returns a function that closes it. Raises EngineStoppedError."""
        proxy = self._gateway.open(
            listener, authorization(password) if password else "", partial(self._fetched, process)
        )
        return partial(self._gateway.shut, proxy)

    def _fetched(self, process: str, request: RequestHead, seconds: float, error: str) -> None:
        now = time.monotonic()
        self._emit(HttpFetched(process, request.host, request.port, seconds, now, request.summary, error))

    def kill(self, number: int) -> None:
        self._server.kill(number)

    def retire(self, executor: WorkerExecutor) -> None:
        """The worker has exited, or never existed: remove its temporary directory."""
        spec = executor.spec
        unused = None if spec is None else self._nodes.taken(spec)
        if unused is not None:  # the launch failed before it got its worker
            self.kill(unused.number)
            unused.close()
        if spec is not None and not spec.lasting and not self._stopped:
            self._loop.run_in_executor(None, remove_tree, spec.workspace)

    def _open(self) -> None:
        self._loop.run_in_executor(None, sweep, self._root.path.parent)
        self._refill()
        for watch in self._watches:
            watch.start()

    def _start_server(self) -> ForkServer:
        return ForkServer(
            self._loop,
            worker_environment(os.environ, self._settings.environment),
            self._root.path,
            self._started,
            self._exited,
            self._lost,
            same_hashes=self._settings.same_hashes,
        )

    def _refill(self) -> None:
        self._refill_timer = None
        with contextlib.suppress(LaunchError):  # launches retry, and report the error
            while len(self._idle) < self._settings.warm_workers and not self._stopped:
                link = self._fork()
                self._idle[link.number] = link
            if self._can_prepare_nodes and not self._stopped:
                self._nodes.refill(self._settings.warm_workers)

    def _fork(self) -> WorkerLink:
        try:
            link = WorkerLink(self._loop, next(self._numbers), self._receive_budget)
        except OSError as error:
            raise LaunchError(f"worker: {error.strerror}", hint="raise the limit of open files (ulimit -n)") from None
        self._server.fork(link.number, link.hand_over(), isolated=self._route == "namespace")
        return link

    def _started(self, number: int, process_id: int) -> None:
        self._process_ids[number] = process_id
        if number in self._running:
            self._running[number].process_id = process_id
            weigh(self._running.values())

    def _exited(self, number: int, exit: Exit) -> None:
        self._process_ids.pop(number, None)
        self._nodes.exited(number)
        if (link := self._idle.pop(number, None)) is not None:
            link.close()
        if (executor := self._running.pop(number, None)) is not None:
            self._users -= Counter([executor.username])
            executor.exited(exit)

    def _lost(self) -> None:
        """The fork server has died, and all workers with it: start another."""
        for process_id in self._process_ids.values():
            with contextlib.suppress(OSError):  # only Linux has killed them already
                os.killpg(process_id, signal.SIGKILL)
        for number in [*self._running, *self._idle, *self._nodes.idle]:
            self._exited(number, Exit(-9, 0.0))
        self._server.wait()
        if not self._stopped and self._server.works:
            self._server = self._start_server()
            self._refill()

    async def _close(self) -> None:
        self._stopped = True
        for watch in self._watches:
            watch.stop()
        if self._refill_timer is not None:
            self._refill_timer.cancel()
        self._server.hang_up()
        for number in [*self._running, *self._idle, *self._nodes.idle]:
            self._exited(number, Exit(-9, 0.0))
        self.gate.close()

    @property
    def _can_prepare_nodes(self) -> bool:
        """Whether the walls of a program are known before the program: with files or a port of its own they are not."""
        return self._settings.scratch_directory is None and self._route != "port"

    def _launch_spec(self, program: Program, input: Input, username: str, draws: Draws | None) -> LaunchSpec:
        return msgspec.structs.replace(
            self._spec_in(self._workspace(username, program.name_for(username))),
            identity=program.identity,
            source=ProgramLocation.of(program),
            entry=program.manifest.runtime.entry,
            call=program.manifest.runtime.call,
            input=json.dumps(input),
            draws=draws,
            compiled=compiled_form(self.components, program, recorded=draws is not None),
        )

    def _node_spec(
        self, node: NodeProgram, program: Program, input: Input, username: str, draws: Draws | None
    ) -> LaunchSpec:
        if draws is not None:
            raise LaunchError("recording: only programs in Python can be recorded", hint="leave out --record")
        copies = node.files is not None and self._can_prepare_nodes
        prepared = self._nodes.take(node.node, prepared=copies)
        spec = self._spec_in(prepared or self._workspace(username, program.name_for(username)))
        launch = NodeLaunch(
            home=node.home,
            main_file=node.main_file,
            entry=program.manifest.runtime.entry,
            call=program.manifest.runtime.call,
            input=json.dumps(input),
            lasting=spec.lasting,
            files=dict(node.files) if copies and node.files is not None else None,
            types_stripped=self._types.get(node.types_key),
            packages=dict(dependency_mains(program)),
        )
        source = ProgramLocation.of(program)
        return msgspec.structs.replace(spec, identity=program.identity, source=source, node=launch)

    def _spec_in(self, workspace: str) -> LaunchSpec:
        """The limits and walls of any program, in this directory."""
        limits, lasting = self._settings, self._settings.scratch_directory is not None
        environment = worker_environment(os.environ, limits.environment) | {"HOME": workspace}
        if lasting:
            environment["PIE_SCRATCH"] = workspace
        return LaunchSpec(
            identity="",
            source=ProgramLocation(""),
            entry="",
            call="",
            input="",
            environment=environment,
            workspace=workspace,
            lasting=lasting,
            scratch_max_bytes=limits.scratch_max_bytes,
            max_memory_bytes=limits.max_memory_bytes,
            max_cpu_seconds=limits.max_cpu_seconds,
            max_open_files=limits.max_open_files,
            sandbox=limits.sandbox,
            route=self._route,
        )

    def _workspace(self, username: str, program: str) -> str:
        try:
            if self._settings.scratch_directory is None:
                return str(self._root.new_directory())
            return str(scratch_directory(Path(self._settings.scratch_directory), username, program).resolve())
        except OSError as error:
            hint = disk_hint(error, "check [runtime] fs_scratch_dir and its permissions")
            raise LaunchError(f"{error.filename}: {error.strerror}", hint=hint) from None


def worker_environment(own: Mapping[str, str], allowed: tuple[str, ...]) -> dict[str, str]:
    """The environment of workers: only usual and allowed variables of the engine's."""
    return {name: own[name] for name in (*_USUAL_VARIABLES, *allowed) if name in own}


def _to_own_stream(stream: StreamName, text: str) -> None:
    real_stream(stream).write(text)
