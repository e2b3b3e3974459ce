"""Where launches wait before they begin."""

import asyncio
import itertools
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from pie_mlx.engine.schedule import Admission, AdmissionTerms, check_claim, end_launch, request_launch
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.runtime.registry.record import ProcessRecord

Endowment = Callable[[int | None], float]
"""The credits of a launch with a token budget, or with none."""


@dataclass(slots=True)
class PageAdmission:
    """Launch roots are named by the id of their process. A claim lasts until `end`."""

    terms: AdmissionTerms
    endowment: Endowment
    _state: Admission = field(default_factory=Admission)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _number_of: dict[str, int] = field(default_factory=dict[str, int])
    _root_of: dict[int, str] = field(default_factory=dict[int, str])

    def check(self, token_budget: int | None) -> None:
        """Raises AdmissionError for a launch that can never start."""
        check_claim(self.terms, self.endowment(token_budget))

    def request(self, root: str, token_budget: int | None) -> list[str]:
        """Take a launch in; the roots that may start now, in their order. Raises what `check` raises."""
        number = next(self._numbers)
        self._state, started = request_launch(self._state, self.terms, number, self.endowment(token_budget))
        self._number_of[root], self._root_of[number] = number, root
        return self._roots(started)

    def end(self, root: str) -> list[str]:
        """A root and all it launched have ended, or it is given up before it started; the roots that may start now."""
        number = self._number_of.pop(root, None)
        if number is None:
            return []
        del self._root_of[number]
        self._state, started = end_launch(self._state, self.terms, number)
        return self._roots(started)

    def reason(self) -> str:
        """Why the launches that wait have to wait."""
        limit = self._state.resume_below
        until = "" if limit is None else f"; launches go on when those have fallen to {limit:,.0f}"
        return (
            f"queued: running launches claim {self._state.claimed:,.0f} of the {self.terms.cap:,.0f} pages that may be "
            f"promised{until}"
        )

    def check_integrity(self, live: Collection[str]) -> None:
        """Raises RuntimeError when a claim belongs to none of the `live` roots."""
        known = {*self._state.claims, *(launch.account for launch in self._state.queue)}
        if known != set(self._root_of) or any(root not in live for root in self._number_of):
            raise RuntimeError("admission: there are claims of launches that are over")

    def _roots(self, numbers: Iterable[int]) -> list[str]:
        return [self._root_of[number] for number in numbers]


PLACES_TAKEN = "queued: as many processes run as may run at once"


@dataclass(slots=True)
class AdmissionQueue:
    """Launch roots wait for what they claim of the pool, in order (Q11), then for a place among those that run.

    `open_admission` is called at the first launch. `concurrent` processes run at once, None: any number. `start` begins
    a record that had to wait, or had not.
    """

    open_admission: Callable[[], PageAdmission]
    start: Callable[[ProcessRecord], None]
    concurrent: int | None
    running: int = 0
    closed: bool = False
    _admission: PageAdmission | None = None
    _records: dict[str, ProcessRecord] = field(default_factory=dict[str, ProcessRecord])
    _queue: deque[ProcessRecord] = field(default_factory=deque[ProcessRecord])
    _turns: dict[str, "asyncio.Future[None]"] = field(default_factory=dict[str, "asyncio.Future[None]"])
    _family_sizes: Counter[str] = field(default_factory=Counter[str])

    def check(self, token_budget: int | None) -> None:
        """Raises AdmissionError for a launch root that can never be admitted."""
        self._admitting().check(token_budget)

    def register(self, record: ProcessRecord) -> None:
        """A process is on record."""
        self._family_sizes[record.root] += 1

    def unregister(self, record: ProcessRecord) -> None:
        """A process is over, or never came to be: its claim ends with the last of its family."""
        if record in self._queue:
            self._queue.remove(record)
        self._records.pop(record.id, None)
        self._family_sizes[record.root] -= 1
        if not self._family_sizes[record.root]:
            del self._family_sizes[record.root]
            if self._admission is not None:
                self._admit(self._admission.end(record.root))
        self.start_waiting()

    def enqueue(self, record: ProcessRecord) -> None:
        """Begin a launch root as soon as it may; meanwhile it is `queued` for a `reason`."""
        self._records[record.id] = record
        admission = self._admitting()
        started = admission.request(record.id, record.token_budget)
        if record.id not in started:
            record.reason = admission.reason()
        self._admit(started)

    async def wait_for_turn(self, record: ProcessRecord, waits: Callable[[ProcessRecord], None]) -> None:
        """Wait until a launch root is admitted, which then needs no place; `waits` is told when it has to.

        Raises ProcessCancelledError when it was given up.
        """
        turn = self._turns[record.id] = asyncio.get_running_loop().create_future()
        try:
            self.enqueue(record)
            if not turn.done():
                waits(record)
            await turn
        finally:
            del self._turns[record.id]
        if record.terminal is not None:
            raise ProcessCancelledError("launch: it was ended before it began", hint="launch it again")

    def release_waiter(self, record: ProcessRecord) -> None:
        """Whoever waits for the turn of a record that is over need not wait longer."""
        turn = self._turns.get(record.id)
        if turn is not None and not turn.done():
            turn.set_result(None)

    def start_waiting(self) -> None:
        """Begin as many as may run."""
        while self._queue and not self.closed and (self.concurrent is None or self.running < self.concurrent):
            record = self._queue.popleft()
            self.occupy_place(record)
            self.start(record)

    def occupy_place(self, record: ProcessRecord) -> None:
        """A process takes a place."""
        record.state, record.reason = "running", ""
        self.running += 1

    def check_integrity(self, live: Iterable[ProcessRecord]) -> None:
        """Raises RuntimeError when the books contradict each other."""
        if any(record.state != "queued" for record in self._queue):
            raise RuntimeError("entrance: a process that is not queued is in the queue")
        found = Counter(record.root for record in live)
        if found != +self._family_sizes:
            raise RuntimeError(f"entrance: counted families {self._family_sizes}, found {found}")
        if self._admission is not None:
            self._admission.check_integrity(found)

    def _admitting(self) -> PageAdmission:
        if self._admission is None:
            self._admission = self.open_admission()
        return self._admission

    def _admit(self, roots: Iterable[str]) -> None:
        for root in roots:
            record, turn = self._records[root], self._turns.get(root)
            if turn is None:
                record.reason = PLACES_TAKEN
                self._queue.append(record)
            elif not turn.done():
                turn.set_result(None)
        self.start_waiting()
