"""Where launches wait before they begin."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from pie_mlx.errors import ProcessCancelledError
from pie_mlx.runtime.registry.admission import LaunchAdmission
from pie_mlx.runtime.registry.record import Record

PLACES_TAKEN = "queued: as many processes run as may run at once"


@dataclass(slots=True)
class Entrance:
    """Launch roots wait for what they claim of the pool, in order (Q11), then for a place among those that run.

    `open_admission` is called at the first launch. `concurrent` processes run at once, None: any number. `start` begins
    a record that had to wait, or had not.
    """

    open_admission: Callable[[], LaunchAdmission]
    start: Callable[[Record], None]
    concurrent: int | None
    running: int = 0
    closed: bool = False
    _admission: LaunchAdmission | None = None
    _records: dict[str, Record] = field(default_factory=dict[str, Record])
    _queue: deque[Record] = field(default_factory=deque[Record])
    _turns: dict[str, "asyncio.Future[None]"] = field(default_factory=dict[str, "asyncio.Future[None]"])
    _kin: Counter[str] = field(default_factory=Counter[str])

    def check(self, token_budget: int | None) -> None:
        """Raises AdmissionError for a launch root that can never be admitted."""
        self._admitting().check(token_budget)

    def arrive(self, record: Record) -> None:
        """A process is on record."""
        self._kin[record.root] += 1

    def leave(self, record: Record) -> None:
        """A process is over, or never came to be: its claim ends with the last of its family."""
        if record in self._queue:
            self._queue.remove(record)
        self._records.pop(record.id, None)
        self._kin[record.root] -= 1
        if not self._kin[record.root]:
            del self._kin[record.root]
            if self._admission is not None:
                self._let_in(self._admission.end(record.root))
        self.start_waiting()

    def line_up(self, record: Record) -> None:
        """Begin a launch root as soon as it may; meanwhile it is `queued` for a `reason`."""
        self._records[record.id] = record
        admission = self._admitting()
        started = admission.request(record.id, record.token_budget)
        if record.id not in started:
            record.reason = admission.reason()
        self._let_in(started)

    async def turn(self, record: Record, waits: Callable[[Record], None]) -> None:
        """Wait until a launch root is admitted, which then needs no place; `waits` is told when it has to.

        Raises ProcessCancelledError when it was given up.
        """
        turn = self._turns[record.id] = asyncio.get_running_loop().create_future()
        try:
            self.line_up(record)
            if not turn.done():
                waits(record)
            await turn
        finally:
            del self._turns[record.id]
        if record.terminal is not None:
            raise ProcessCancelledError("launch: it was ended before it began", hint="launch it again")

    def give_up(self, record: Record) -> None:
        """Whoever waits for the turn of a record that is over need not wait longer."""
        turn = self._turns.get(record.id)
        if turn is not None and not turn.done():
            turn.set_result(None)

    def start_waiting(self) -> None:
        """Begin as many as may run."""
        while self._queue and not self.closed and (self.concurrent is None or self.running < self.concurrent):
            record = self._queue.popleft()
            self.begin(record)
            self.start(record)

    def begin(self, record: Record) -> None:
        """A process takes a place."""
        record.state, record.reason = "running", ""
        self.running += 1

    def check_integrity(self, live: Iterable[Record]) -> None:
        """Raises RuntimeError when the books contradict each other."""
        if any(record.state != "queued" for record in self._queue):
            raise RuntimeError("entrance: a process that is not queued is in the queue")
        found = Counter(record.root for record in live)
        if found != +self._kin:
            raise RuntimeError(f"entrance: counted families {self._kin}, found {found}")
        if self._admission is not None:
            self._admission.check_integrity(found)

    def _admitting(self) -> LaunchAdmission:
        if self._admission is None:
            self._admission = self.open_admission()
        return self._admission

    def _let_in(self, roots: Iterable[str]) -> None:
        for root in roots:
            record, turn = self._records[root], self._turns.get(root)
            if turn is None:
                record.reason = PLACES_TAKEN
                self._queue.append(record)
            elif not turn.done():
                turn.set_result(None)
        self.start_waiting()
