"""One process as its users see it, from its launch until it is forgotten."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from pie_mlx.engine.hosting.ports import HttpPort
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.events import ProcessEvent, ProcessFailed, ProcessOutput, ProcessReturned
from pie_mlx.runtime.execution.entry import Entry
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.mcp.error import NO_ANSWER, mcp_error
from pie_mlx.runtime.program.parameters import Input
from pie_mlx.runtime.program.program import Program
from pie_mlx.runtime.registry.kept_events import KeptEvents
from pie_mlx.runtime.registry.output_log import OutputLog

Kind = Literal["process", "daemon"]
State = Literal["queued", "running", "returned", "failed", "killed"]


class Sink(Protocol):
    """The attached client, with its MCP servers. Called on the registry's loop; must not block.

    `mcp_request` returns JSON text and raises McpError.
    """

    def deliver(self, event: ProcessEvent, data: bytes) -> None: ...

    def mcp_servers(self) -> list[str]: ...

    async def mcp_request(self, process_id: str, server: str, method: str, params_json: str) -> str: ...


@dataclass(slots=True, eq=False)
class ProcessRecord:
    """`captures`: standard output is kept for a client. `attached` gets the events.

    `started_at` is Unix time. `early` holds what is sent before the program runs; nothing can be sent once
    `session_closed`. `terminal` is the last event. `reason` is why it is queued, `root` the launch it descends from. A
    daemon has no process of its own; `end` ends it. `entry` is set for a built-in program that stays loaded. `model` is
    its default model, `wanted_model` the one that its launch named.
    """

    id: str
    username: str
    program: Program
    input: Input
    input_text: str
    model: str
    captures: bool
    token_budget: int | None
    started_at: float
    started_seconds: float
    kept: KeptEvents
    kind: Kind = "process"
    end: Callable[[], None] | None = None
    http: HttpPort | None = None
    entry: Entry | None = None
    wanted_model: str = ""
    parent: str | None = None
    root: str = ""
    state: State = "queued"
    reason: str = ""
    attached: Sink | None = None
    process: Process | None = None
    log: OutputLog | None = None
    terminal: ProcessReturned | ProcessFailed | None = None
    finished_seconds: float = 0.0
    cancelled: str = ""
    abandoned_seconds: float | None = None
    session_closed: bool = False
    early: list[str | bytes] = field(default_factory=list[str | bytes])
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    watchers: list[Callable[[ProcessEvent], None]] = field(default_factory=list[Callable[[ProcessEvent], None]])

    @property
    def is_over(self) -> bool:
        return self.terminal is not None

    @property
    def is_logged(self) -> bool:
        """Whether its output is logged to a file; built-in programs that stay loaded are not logged."""
        return self.entry is None

    @property
    def shows_tokens(self) -> bool:
        """Whether those who may see its output may see each of its tokens, and the text in its pages."""
        return self.is_logged and self.program.manifest.runtime.shows_tokens

    @property
    def is_abandoned(self) -> bool:
        """Whether it waits for a detached client."""
        waits = self.process is not None and self.process.awaits_client()
        return waits and self.attached is None and not self.is_over

    def waiting_messages(self) -> list[int]:
        """Lengths in characters of the messages the program has not received yet."""
        if self.process is not None:
            return self.process.waiting_messages()
        return [len(item) for item in self.early if isinstance(item, str)]

    def waiting_files(self) -> list[int]:
        """Sizes in bytes of the files the program has not received yet."""
        if self.process is not None:
            return self.process.waiting_files()
        return [len(item) for item in self.early if isinstance(item, bytes)]

    def pass_on(self, item: str | bytes) -> None:
        """Pass a message or file to the program, or keep it until the program runs."""
        if self.process is None:
            self.early.append(item)
        elif isinstance(item, str):
            self.process.send(item)
        else:
            self.process.send_file(item)

    def begin(self, process: Process) -> None:
        """The program runs: pass on what its client has sent."""
        self.process = process
        early, self.early = self.early, []
        for item in early:
            self.pass_on(item)
        if self.session_closed:
            process.close_session()

    def deliver(self, event: ProcessEvent, data: bytes) -> None:
        """Pass an event to the attached client, or keep it."""
        if self.attached is not None:
            self.attached.deliver(event, data)
        elif self.captures or not isinstance(event, ProcessOutput):
            self.kept.keep(event, data)

    def attach(self, sink: Sink) -> list[tuple[ProcessEvent, bytes]]:
        """Attach `sink` and return the events it missed. A finished process stays detached."""
        replay = self.kept.drain(self.id)
        if self.terminal is None:
            self.attached, self.captures = sink, True
        elif not replay:
            return [(self.terminal, b"")]
        return replay

    def detach(self, unsent: list[tuple[ProcessEvent, bytes]]) -> None:
        """Detach the client; keep its unsent events for the next one."""
        self.resume()
        self.attached = None
        for event, data in unsent:
            self.kept.keep(event, data)
        if self.is_over:
            self.kept.end()

    def hold(self) -> None:
        """Make the program wait for the attached client, which reads too slowly."""
        if self.process is not None:
            self.process.hold_output()

    def resume(self) -> None:
        if self.process is not None:
            self.process.resume_output()

    def finish(self, event: ProcessReturned | ProcessFailed) -> None:
        """Mark it as ended by `event`, which has been delivered."""
        self.terminal = event
        if isinstance(event, ProcessReturned):
            self.state = "returned"
        else:
            self.state = "killed" if event.error_type == ProcessCancelledError.__name__ else "failed"
        self.attached = None
        self.kept.end()
        self.ended.set()


@dataclass(frozen=True, slots=True)
class ClientRelay:
    """An `McpRelay` to the client currently attached to a process."""

    record: ProcessRecord

    def servers(self) -> list[str]:
        client = self.record.attached
        return [] if client is None else client.mcp_servers()

    async def request(self, server: str, method: str, params_json: str) -> str:
        client = self.record.attached
        if client is None:
            raise mcp_error(NO_ANSWER, f"MCP server '{server}': its client has detached")
        return await client.mcp_request(self.record.id, server, method, params_json)
