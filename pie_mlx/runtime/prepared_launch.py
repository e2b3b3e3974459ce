"""A launch of a program that has no process yet: what runs, for whom, and how."""

import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from pie_mlx.engine.hosting.ports import HttpPort
from pie_mlx.engine.hosting.process import ProcessHost
from pie_mlx.events import ProcessLaunched
from pie_mlx.runtime.execution.entry import Entry
from pie_mlx.runtime.execution.executor import Executor, ProgramThread
from pie_mlx.runtime.execution.outcome import Outcome
from pie_mlx.runtime.execution.process import Report
from pie_mlx.runtime.execution.process_events import ProcessEventQueue
from pie_mlx.runtime.program.inputs import beginning
from pie_mlx.runtime.program.parameters import Input
from pie_mlx.runtime.recording.recorder import ProcessRecorder
from pie_mlx.runtime.worker.frames.messages import Draws
from pie_mlx.runtime.worker.pool import WorkerPool
from pie_mlx.trace.traceparent import traceparent_header


@dataclass(frozen=True, slots=True)
class PreparedLaunch:
    """The entry is loaded, and `value` is the checked input.

    With a `parent` it is the launch of a child; `http` is the request that the program answers. In a worker the program
    begins once a debugger has connected to the listening socket `debugger`; with the `draws` of a recording it goes on
    live from the first difference.
    """

    entry: Entry
    value: Input
    username: str
    token_budget: int | None
    parent: str | None
    http: HttpPort | None
    captures_output: bool
    debugger: socket.socket | None
    draws: Draws | None

    @property
    def traceparent(self) -> str:
        """The header of the trace that its request belongs to; "" for none."""
        return "" if self.http is None else traceparent_header(self.http.request.headers)

    def event(self, process_id: str) -> ProcessLaunched:
        """The first event of its process."""
        return ProcessLaunched(
            process_id,
            self.username,
            self.entry.identity,
            self.token_budget,
            self.parent or "",
            beginning(self.value),
            asked_seconds=0.0 if self.http is None else self.http.asked_seconds,
            at_seconds=time.monotonic(),
            traceparent=self.traceparent,
        )

    def needs_worker(self, workers: WorkerPool | None) -> bool:
        """Whether it runs in one of the `workers`: functions, and entries with an executor of their own, do not."""
        return workers is not None and self.entry.program is not None and self.entry.executor is None

    def executor(
        self,
        workers: WorkerPool | None,
        host: ProcessHost,
        event_queue: ProcessEventQueue,
        record: ProcessRecorder | None,
    ) -> Callable[[Report], Executor]:
        """What makes the executor, given what it reports its outcome to. A `record` learns the outcome too."""
        make = self._executor(workers, host, event_queue, record)
        return make if record is None else partial(_recorded, make, record)

    def _executor(
        self,
        workers: WorkerPool | None,
        host: ProcessHost,
        event_queue: ProcessEventQueue,
        record: ProcessRecorder | None,
    ) -> Callable[[Report], Executor]:
        """A worker, the entry's own executor, or a thread of this interpreter."""
        entry, write = self.entry, event_queue.write if self.captures_output else None
        if workers is not None and entry.program is not None and self.needs_worker(workers):
            return partial(
                workers.executor,
                entry.program,
                self.value,
                self.username,
                host,
                event_queue,
                write,
                self.debugger,
                node=entry.node,
                draws=self.draws if record is None else record.draws,
                clock_read=None if record is None else record.clock_read,
            )
        body = partial(entry.run, self.value)
        if entry.executor is not None:
            return partial(entry.executor, body, host)
        return partial(ProgramThread, body, host, f"pie-{host.process_id[:8]}", write)


def _recorded(make: Callable[[Report], Executor], record: ProcessRecorder, report: Report) -> Executor:
    def both(outcome: Outcome) -> None:
        record.ended(outcome)
        report(outcome)

    return make(both)
