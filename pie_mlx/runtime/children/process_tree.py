"""The processes of an engine as a tree: launches children, reports on them, and ends them with their parents."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

from pie_mlx.calls import ChildOutcome
from pie_mlx.errors import EngineStoppedError, LaunchError, PieError, ProcessCancelledError, ProcessError, child_failure
from pie_mlx.runtime.children.launch_tree import LaunchTree
from pie_mlx.runtime.children.program_lookup import ResolveName, child_program
from pie_mlx.runtime.execution.loops import on_loop
from pie_mlx.runtime.execution.outcome import Failed, Outcome
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.mcp.access import McpRelay
from pie_mlx.runtime.messaging import Channel
from pie_mlx.runtime.program.inputs import beside_the_loop, parse_input
from pie_mlx.runtime.program.parameters import Input
from pie_mlx.runtime.program.program import Program
from pie_mlx.trace.traceparent import TraceParent, trace_of


@dataclass(frozen=True, slots=True)
class ChildRequest:
    """A program's request to launch another. `parent` is the requesting process, `process_id` the child's id."""

    program: Program
    input: Input
    username: str
    parent: str
    process_id: str


StartChild = Callable[[ChildRequest], Awaitable[Process]]
"""Starts a child, by way of `Engine.launch`. Raises LaunchError and its subclasses."""


@dataclass(slots=True, eq=False)
class LaunchedProcess:
    """A process of the tree. `program` is None for a function, `process` None until it has started.

    If `doomed`, it is cancelled as soon as it has started. `channel` is its access to topics. `asked_by` is the span of
    the HTTP request that it answers, if that has one.
    """

    username: str
    program: Program | None
    relay: McpRelay | None
    process: Process | None = None
    doomed: bool = False
    channel: Channel | None = None
    asked_by: TraceParent | None = None


def child_outcome(outcome: Outcome) -> ChildOutcome:
    """How a process ended, in the form its parent gets."""
    if not isinstance(outcome, Failed):
        return ChildOutcome("returned", outcome.value, outcome.format)
    cancelled = isinstance(outcome.error, ProcessCancelledError)
    return ChildOutcome(
        "cancelled" if cancelled else "failed",
        error_type=outcome.error_type,
        code=outcome.error.code if isinstance(outcome.error, PieError) else "",
        message=outcome.message,
    )


@dataclass(slots=True)
class ProcessTree:
    """Belongs to the loop of the engine's owner. `start` starts a child; replace it only before the first child."""

    tree: LaunchTree
    resolve: ResolveName
    start: StartChild
    _members: dict[str, LaunchedProcess] = field(default_factory=dict[str, LaunchedProcess])
    _attending: set["asyncio.Task[None]"] = field(default_factory=set["asyncio.Task[None]"])
    _parsing: asyncio.Lock = field(default_factory=asyncio.Lock)
    _launching: set["asyncio.Task[str]"] = field(default_factory=set["asyncio.Task[str]"])
    _asked: set[str] = field(default_factory=set[str])
    """Children whose results their parents await."""

    def enter(self, process_id: str, member: LaunchedProcess, parent: str | None) -> None:
        """Register a starting process. Raises LaunchError if its parent has ended or a limit is reached."""
        self.tree.add_process(process_id, parent)
        self._members[process_id] = member

    def withdraw(self, process_id: str) -> None:
        """Unregister a process that did not start."""
        self._drop([*self.tree.end(process_id), *self.tree.forget(process_id)])

    def attend(self, process: Process) -> None:
        """Register that a process has started, and end its descendants with it."""
        member = self._members[process.id]
        member.process = process
        if member.doomed:
            process.cancel()
        task = asyncio.create_task(self._end_with(process))
        self._attending.add(task)
        task.add_done_callback(self._attending.discard)

    async def wait_until_ended(self) -> None:
        """Wait until every process has ended and is unregistered."""
        await asyncio.gather(*self._attending, *self._launching, return_exceptions=True)

    async def launch(self, parent: str, word: str, input_text: str) -> str:
        """Start a child and return its id. Raises LaunchError and its subclasses. Cancelling leaves no child running.

        A name is looked up for the user of the parent, and for the owner of the parent's program.
        """
        member = self._members.get(parent)
        if member is None:
            raise LaunchError(f"launch: process {parent} has ended", hint="launch children while the parent runs")
        users = [member.username, *([member.program.owner] if member.program else [])]
        # Reads files and parses: not on the loop.
        program = await asyncio.to_thread(child_program, word, member.program, lambda name: self.resolve(name, users))
        async with self._parsing:  # one at a time, for all programs
            value = await beside_the_loop(partial(parse_input, input_text), len(input_text))
        request = ChildRequest(program, value, member.username, parent, str(uuid.uuid4()))
        task = asyncio.create_task(self._launch(request))
        self._launching.add(task)
        task.add_done_callback(self._launching.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(self._end_unwanted)
            raise

    async def outcome(self, parent: str, child: str) -> ChildOutcome:
        """Wait for the end of a child. Raises ProcessError if it is not a child of `parent`."""
        process = self._child(parent, child)
        self._set_failure(child, parent, None)
        self._asked.add(child)
        try:
            return child_outcome(await process.outcome())
        finally:
            self._asked.discard(child)

    def cancel(self, parent: str, child: str) -> None:
        """Ask a child to end. Raises ProcessError if it is not a child of `parent`."""
        self._child(parent, child).cancel()

    def forget(self, parent: str, child: str) -> None:
        """`parent` asks no more about `child`. Unknown children are ignored."""
        if self.tree.is_child(child, parent):
            self._set_failure(child, parent, None)
            self._drop(self.tree.forget(child))

    def relays(self, process_id: str) -> list[McpRelay]:
        """The MCP relays of the process and its ancestors, nearest first."""
        kin = (self._members[ancestor].relay for ancestor in self.tree.ancestors(process_id))
        return [relay for relay in kin if relay is not None]

    def trace(self, process_id: str) -> TraceParent:
        """The span of a process, in the trace of its first ancestor and of the request that this one answers."""
        root = self.tree.ancestors(process_id)[-1]
        first = trace_of(root, self._members[root].asked_by)
        return first if process_id == root else trace_of(process_id, first)

    @property
    def is_empty(self) -> bool:
        """Whether it knows of no process any more."""
        return not self._members

    def check_integrity(self) -> None:
        """Raises RuntimeError if the state is inconsistent."""
        self.tree.check_integrity()
        if any(process_id not in self.tree for process_id in self._members):
            raise RuntimeError("process tree: a process is not in the launch tree")

    async def _launch(self, request: ChildRequest) -> str:
        try:
            return (await self.start(request)).id
        except EngineStoppedError as error:
            raise LaunchError(f"launch: {error.message}", hint=error.hint) from error

    def _end_unwanted(self, launched: "asyncio.Task[str]") -> None:
        """End a child whose launch was cancelled."""
        if not launched.cancelled() and launched.exception() is None:
            self._cancel(launched.result())

    async def _end_with(self, process: Process) -> None:
        """Once a process fails or is cancelled, cancel its descendants; if it returns, they continue."""
        outcome = await process.outcome()
        if isinstance(outcome, Failed):
            self._report_failure(process.id, child_outcome(outcome))
            for descendant in self.tree.descendants(process.id):
                self._cancel(descendant)
        self._drop(self.tree.end(process.id))

    def tell_launcher(self, parent: str, text: str) -> None:
        """Write a text to the standard error of the nearest ancestor that runs, `parent` or above it."""
        for ancestor in self.tree.ancestors(parent):
            process = self._members[ancestor].process
            if self.tree.is_running(ancestor) and process is not None:
                process.write_error(text)
                return

    def _report_failure(self, child: str, outcome: ChildOutcome) -> None:
        """Let the parent's waits for messages raise, unless it asks for the result of the child or has let go of it."""
        parent = self.tree.parent(child)
        if parent is not None and outcome.state == "failed" and child not in self._asked:
            self._set_failure(child, parent, outcome)

    def _set_failure(self, child: str, parent: str, outcome: ChildOutcome | None) -> None:
        channel = self._members[parent].channel if parent in self._members else None
        if channel is not None and self.tree.is_child(child, parent):
            error = outcome and child_failure(child, outcome.error_type, outcome.code, outcome.message)
            channel.set_failure(child, error)

    def _cancel(self, process_id: str) -> None:
        member = self._members[process_id]
        member.doomed = True
        if member.process is not None:
            member.process.cancel()

    def _child(self, parent: str, child: str) -> Process:
        member = self._members.get(child) if self.tree.is_child(child, parent) else None
        if member is None or member.process is None:
            raise ProcessError(f"process {child}: not a child of this program", hint="use the handle of runtime.launch")
        return member.process

    def _drop(self, process_ids: list[str]) -> None:
        for process_id in process_ids:
            del self._members[process_id]


@dataclass(frozen=True, slots=True)
class ProcessChildren:
    """The `ChildrenPort` of one process. The process tree belongs to `loop`."""

    process_tree: ProcessTree
    loop: asyncio.AbstractEventLoop
    process: str

    async def launch(self, program: str, input: str) -> str:
        return await on_loop(self.loop, self.process_tree.launch(self.process, program, input))

    async def outcome(self, child: str) -> ChildOutcome:
        return await on_loop(self.loop, self.process_tree.outcome(self.process, child))

    async def cancel(self, child: str) -> None:
        await on_loop(self.loop, self._cancel(child))

    async def forget(self, child: str) -> None:
        await on_loop(self.loop, self._forget(child))

    async def _cancel(self, child: str) -> None:
        self.process_tree.cancel(self.process, child)

    async def _forget(self, child: str) -> None:
        self.process_tree.forget(self.process, child)
