"""Live and finished processes, their owners and their attached clients."""

import asyncio
import contextlib
import json
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from pie_mlx.engine.hosting.engine_time import LoopShares
from pie_mlx.errors import AdmissionError, ProcessCancelledError, ProcessError
from pie_mlx.events import (
    SIGNAL,
    Event,
    ProcessEvent,
    ProcessFailed,
    ProcessFile,
    ProcessLaunched,
    ProcessOutput,
    ProcessQueued,
    ProcessReturned,
)
from pie_mlx.runtime.children import ChildRequest
from pie_mlx.runtime.engine import Engine
from pie_mlx.runtime.execution.outcome import Failed
from pie_mlx.runtime.execution.process import Process
from pie_mlx.runtime.program.inputs import parse_input
from pie_mlx.runtime.program.parameters import Input
from pie_mlx.runtime.registry.admission_queue import AdmissionQueue, PageAdmission
from pie_mlx.runtime.registry.kept_events import TERMINAL, KeptEvents, KeptTotal
from pie_mlx.runtime.registry.launch import Launch, User, checked_id, checked_input, checked_inputs
from pie_mlx.runtime.registry.limits import RegistryLimits
from pie_mlx.runtime.registry.output_log import OutputLogs, write_event
from pie_mlx.runtime.registry.record import ClientRelay, ProcessRecord, Sink

STOPPED = "Engine stopped"


class Registry:
    """Belongs to the loop that entered `engine`; nothing in it waits for the model.

    `logs` None logs nothing. `model` is the programs' name for the engine's model. `emit` gets the events of launches
    that are queued, and of those terminated while queued. `loop_shares` has what users cost that loop.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        model: str,
        limits: RegistryLimits | None = None,
        logs: OutputLogs | None = None,
        emit: Callable[[Event], None] = lambda event: None,
    ) -> None:
        self._engine, self._model = engine, model
        self._limits = limits or RegistryLimits()
        self._logs = logs
        self._emit = emit
        self._records: dict[str, ProcessRecord] = {}
        self._kept = KeptTotal(self._limits.kept_total_bytes, self._limits.kept_user_bytes)
        self._admissions = AdmissionQueue(
            lambda: PageAdmission(engine.admission_terms(), engine.endowment), self._spawn, self._limits
        )
        self._live: Counter[str] = Counter()
        self._input_characters: Counter[str] = Counter()
        self._tasks: set[asyncio.Task[None]] = set()
        self.loop_shares = LoopShares(lambda user: any(self._live[one] for one in self._live if one != user))
        engine.start_children_with(self._start_child)

    @property
    def logs(self) -> OutputLogs | None:
        return self._logs

    def records(self, user: User, *, all: bool = False) -> list[ProcessRecord]:
        """Processes visible to `user`, oldest first; finished ones only with `all`."""
        return [record for record in self._records.values() if user.owns(record) and (all or not record.is_over)]

    def find(self, process_id: str, user: User) -> ProcessRecord:
        """Raises InvalidArgumentError for an invalid id, ProcessError for an unknown or another user's process."""
        record = self._records.get(checked_id(process_id))
        if record is None:
            raise ProcessError("Process not found", hint="'pie ps' lists the processes that run")
        if not user.owns(record):
            raise ProcessError("Permission denied", hint="it belongs to another user")
        return record

    def is_running(self, process_id: str) -> bool:
        """Whether it is queued or running."""
        return (record := self._records.get(process_id)) is not None and not record.is_over

    def admit(
        self, user: User, launches: Sequence[Launch], inputs: Sequence[Input] | None = None
    ) -> list[ProcessRecord]:
        """Register all launches, or none. Nothing runs before `begin`. `inputs` is the result of `checked_inputs`.

        Raises LaunchError for an invalid program or input, InvalidArgumentError for a budget below 1, AdmissionError if
        the user has too many processes, or if a claim can never be met (Q11).
        """
        inputs = inputs or [checked_input(launch) for launch in launches]
        for launch in launches:
            self._admissions.check(launch.token_budget)
        self._check_room(user, launches)
        pairs = zip(launches, inputs, strict=True)
        admitted = [self._record(user, launch, parsed, str(uuid.uuid4())) for launch, parsed in pairs]
        for record in admitted:
            self._register(record)
        return admitted

    async def launch_at_once(self, user: User, launch: Launch, process_id: str | None = None) -> Process:
        """Start a process without waiting for a place, because a running process or request waits for it.

        A launch root waits for the pages it claims (Q11); cancelling withdraws it. Raises what `admit` raises, and
        ProcessCancelledError if it is terminated before it has started.
        """
        (parsed,) = await checked_inputs([launch])
        self._check_room(user, [launch])
        if launch.parent is None:
            self._admissions.check(launch.token_budget)
        record = self._record(user, launch, parsed, process_id or str(uuid.uuid4()))
        self._register(record)
        try:
            if record.parent is None:
                await self._admissions.wait_for_turn(record, self._emit_queued)
            self._admissions.occupy_place(record)
            return await self._launch(record)
        except BaseException:
            if not record.is_over:
                self._withdraw(record)
            raise

    def begin(self, records: Iterable[ProcessRecord]) -> None:
        """Start admitted processes, or queue them. Their first event comes after this call has returned."""
        for record in records:
            self._admissions.enqueue(record)
            if record.state == "queued":
                self._emit_queued(record)

    def add_daemon(self, user: User, launch: Launch, end: Callable[[], None]) -> ProcessRecord:
        """Register a daemon, which launches processes until it is terminated; that calls `end`."""
        record = self._record(user, launch, parse_input(launch.input_text), str(uuid.uuid4()))
        record.kind, record.end, record.state = "daemon", end, "running"
        self._register(record)
        return record

    def attach(self, record: ProcessRecord, sink: Sink) -> list[tuple[ProcessEvent, bytes]]:
        """Attach `sink` and return the events it missed; none if it is attached already.

        Raises ProcessError while another client is attached.
        """
        if record.attached is sink:
            return []
        if record.attached is not None:
            raise ProcessError("Cannot attach: already attached", hint="detach the other client first")
        return record.attach(sink)

    def detach(self, record: ProcessRecord, sink: Sink, unsent: Sequence[tuple[ProcessEvent, bytes]] = ()) -> None:
        """Detach `sink`, which has sent everything but `unsent`. Ignored if it is not attached."""
        if record.attached is sink or (record.is_over and unsent):
            record.detach(list(unsent))

    def send(self, record: ProcessRecord, message: str) -> bool:
        """Queue a message for the program; False if too many are waiting, or it has ended."""
        waiting, limits = record.waiting_messages(), self._limits
        is_full = len(waiting) >= limits.messages or sum(waiting) + len(message) > limits.message_characters
        if record.is_over or record.session_closed or is_full:
            return False
        record.pass_on(message)
        return True

    def check_room(self, record: ProcessRecord, size_bytes: int) -> None:
        """Raises ProcessError if no further file of that size can wait for the program."""
        if record.is_over or record.session_closed:
            raise ProcessError("file refused: the program receives no more files", hint="send files while it runs")
        self._limits.check_files(record.waiting_files(), size_bytes)
        mine = (other for other in self._records.values() if other.username == record.username and not other.is_over)
        self._limits.check_user_files(sum(sum(other.waiting_files()) for other in mine), size_bytes)

    def send_file(self, record: ProcessRecord, data: bytes) -> None:
        """Queue a file for the program. Raises ProcessError if there is no room."""
        self.check_room(record, len(data))
        record.pass_on(data)

    def close_session(self, record: ProcessRecord) -> None:
        """Send nothing more: a program that waits for a message or file gets SessionClosedError."""
        record.session_closed = True
        if record.process is not None:
            record.process.close_session()

    def notice(self, record: ProcessRecord, text: str) -> None:
        """Send a notice to the client of a process, on the process's standard error."""
        if not record.is_over:
            self._deliver(record, ProcessOutput(record.id, "stderr", f"[pie] {text}\n"), b"")

    def terminate(self, record: ProcessRecord, reason: str = SIGNAL) -> None:
        """End a process; `reason` is the message of its last event. Raises ProcessError if it has ended."""
        if record.is_over:
            raise ProcessError("Process not found", hint="it has ended already")
        if record.cancelled:
            return
        record.cancelled = reason
        if record.process is not None:
            record.process.cancel(reason)
        elif record.end is not None or record.state == "queued":
            ended = ProcessFailed(record.id, ProcessCancelledError.__name__, reason, at_seconds=time.monotonic())
            if record.end is not None:
                record.end()
            else:
                self._emit(ended)
            self._deliver(record, ended, b"")
            self._admissions.release_waiter(record)

    def end_abandoned(self, now_seconds: float) -> None:
        """End processes that waited too long for a detached client. Called periodically, with monotonic seconds."""
        limit = self._limits.detached_seconds
        if limit is None:
            return
        for record in list(self._records.values()):
            if not record.is_abandoned:
                record.abandoned_seconds = None
            elif record.abandoned_seconds is None:
                record.abandoned_seconds = now_seconds
            elif now_seconds - record.abandoned_seconds >= limit:
                self.terminate(record, f"detached for {limit:g} s while it waited for its client")

    async def stop(self) -> None:
        """End all processes and wait for them. No process starts after this."""
        self._admissions.closed = True
        running = [record for record in self._records.values() if not record.is_over]
        for record in running:
            self.terminate(record, STOPPED)
        await asyncio.gather(*(record.ended.wait() for record in running))
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def check_integrity(self) -> None:
        """Raises RuntimeError if the counts are inconsistent."""
        started = sum(_counts(record) for record in self._records.values())
        if started != self._admissions.running:
            raise RuntimeError(f"registry: counted {self._admissions.running} running processes, found {started}")
        live = Counter(record.username for record in self._records.values() if not record.is_over)
        if live != +self._live:
            raise RuntimeError(f"registry: counted live processes {self._live}, found {live}")
        inputs = sum(len(record.input_text) for record in self._records.values())
        if inputs != self._input_characters.total():
            raise RuntimeError(f"registry: counted inputs {self._input_characters}, found {inputs}")
        self._admissions.check_integrity(record for record in self._records.values() if not record.is_over)
        for record in self._records.values():
            record.kept.check_integrity()
        self._kept.check_integrity(record.kept for record in self._records.values())

    def _register(self, record: ProcessRecord) -> None:
        self._records[record.id] = record
        self._live[record.username] += 1
        self._input_characters[record.username] += len(record.input_text)
        self._admissions.register(record)

    def _withdraw(self, record: ProcessRecord) -> None:
        """Remove a process whose launch failed, and its log: it never ran."""
        if record.log is not None:
            record.log.remove()
        self._forget(record)
        self._release_place(record, was_running=_counts(record))

    def _release_place(self, record: ProcessRecord, *, was_running: bool) -> None:
        """Release the place and the claim of a process."""
        self._live[record.username] -= 1
        self._admissions.running -= was_running
        self._admissions.unregister(record)

    def _emit_queued(self, record: ProcessRecord) -> None:
        queued = ProcessQueued(record.id, record.username, record.program.identity, record.reason, time.monotonic())
        self._emit(queued)

    def _check_room(self, user: User, launches: Sequence[Launch]) -> None:
        wanted = sum(len(launch.input_text) for launch in launches)
        held = self._input_characters[user.name]
        if held and held + wanted > self._limits.input_characters:
            raise AdmissionError(
                f"the processes of user '{user.name}' hold inputs of {held} characters, the limit is "
                f"{self._limits.input_characters}",
                hint="wait until some have ended, or send large data as files",
            )
        present = self._live[user.name]
        if present + len(launches) > self._limits.per_user:
            raise AdmissionError(
                f"{present} processes of user '{user.name}' are running or queued, the limit is "
                f"{self._limits.per_user}",
                hint="wait until some have ended, or end them",
            )

    def _record(self, user: User, launch: Launch, parsed: dict[str, object], process_id: str) -> ProcessRecord:
        parent = self._records.get(launch.parent or "")
        return ProcessRecord(
            id=process_id,
            username=user.name,
            program=launch.program,
            input=parsed,
            input_text=launch.input_text,
            model=launch.model or (parent.model if parent else self._model),
            captures=launch.captures,
            token_budget=launch.token_budget,
            started_at=time.time(),
            started_seconds=time.monotonic(),
            kept=KeptEvents(self._limits.kept, self._kept, user.name),
            parent=launch.parent,
            root=parent.root if parent else process_id,
            http=launch.http,
            entry=launch.entry,
            wanted_model=launch.model,
        )

    def _spawn(self, record: ProcessRecord) -> None:
        task = asyncio.create_task(self.loop_shares.charging(record.username, partial(self._run, record)))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, record: ProcessRecord) -> None:
        """Start the program and wait until all its events are delivered."""
        try:
            process = await self._launch(record)
        except Exception as error:
            failed = Failed(error)
            event = ProcessFailed(record.id, failed.error_type, failed.message, failed.hint, time.monotonic())
            self._deliver(record, event, b"")
        else:
            await process.begun()
            self._admissions.begun(record)
            await process.outcome()

    async def _start_child(self, request: ChildRequest) -> Process:
        """Start a child of a program, registered like any other process."""
        launch = Launch(request.program, json.dumps(request.input), parent=request.parent)
        return await self.launch_at_once(User(request.username), launch, request.process_id)

    async def _launch(self, record: ProcessRecord) -> Process:
        if self._logs is not None and record.is_logged:
            with contextlib.suppress(OSError):  # programs run even if the disk is full
                record.log = self._logs.begin(record.id, record.username, record.program.identity)
        process = await self._engine.launch(
            record.entry or record.program,
            record.input,
            on_event=lambda event: self._on_event(record, event),
            on_file=lambda data, name: self._deliver(record, ProcessFile(record.id, name, len(data)), data),
            capture_output=True,
            username=record.username,
            token_budget=record.token_budget,
            process_id=record.id,
            parent=record.parent,
            relay=ClientRelay(record),
            http=record.http,
            model=record.wanted_model,
        )
        record.begin(process)
        if record.cancelled:
            process.cancel(record.cancelled)
        return process

    def _on_event(self, record: ProcessRecord, event: ProcessEvent) -> None:
        if not isinstance(event, ProcessFile | ProcessLaunched):  # `on_file` delivers files, with their contents
            self._deliver(record, event, b"")

    def _deliver(self, record: ProcessRecord, event: ProcessEvent, data: bytes) -> None:
        if record.is_over:
            return
        if record.log is not None:
            with contextlib.suppress(OSError):
                write_event(record.log, event)
        record.deliver(event, data)
        for watcher in record.watchers:
            watcher(event)
        if isinstance(event, TERMINAL):
            self._finish(record, event)

    def _finish(self, record: ProcessRecord, event: ProcessReturned | ProcessFailed) -> None:
        was_running = _counts(record)
        record.finish(event)
        record.finished_seconds = time.monotonic()
        record.early.clear()
        if record.log is not None:
            record.log.close()
        self._forget_later(record)
        self._release_place(record, was_running=was_running)

    def _forget_later(self, record: ProcessRecord) -> None:
        """Forget the record after the grace; at once for a built-in program, which no client can attach."""
        grace_seconds = self._limits.finished_grace_seconds if record.entry is None else 0.0
        asyncio.get_running_loop().call_later(grace_seconds, self._forget, record)

    def _forget(self, record: ProcessRecord) -> None:
        if self._records.pop(record.id, None) is not None:
            self._input_characters[record.username] -= len(record.input_text)
        record.kept.forget()


def _counts(record: ProcessRecord) -> bool:
    """Whether it counts as a running process."""
    return record.state == "running" and record.kind == "process"
