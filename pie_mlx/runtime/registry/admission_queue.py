"""Queues launches until the pages they claim, and a place, are free."""

import asyncio
import itertools
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field

from pie_mlx.engine.policies import Admission, AdmissionTerms, check_claim, end_launch, request_launch
from pie_mlx.errors import ProcessCancelledError
from pie_mlx.runtime.registry.limits import RegistryLimits
from pie_mlx.runtime.registry.record import ProcessRecord

Endowment = Callable[[int | None], float]
"""The credits of a launch with a token budget, or without one."""


@dataclass(slots=True)
class PageAdmission:
    """Admits launch roots by the pages they claim (Q11). Roots are process ids. A claim lasts until `end`."""

    terms: AdmissionTerms
    endowment: Endowment
    _state: Admission = field(default_factory=Admission)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count)
    _number_of: dict[str, int] = field(default_factory=dict[str, int])
    _root_of: dict[int, str] = field(default_factory=dict[int, str])

    def check(self, token_budget: int | None) -> None:
        """Raises AdmissionError if such a launch can never start."""
        check_claim(self.terms, self.endowment(token_budget))

    def request(self, root: str, user: str, token_budget: int | None) -> list[str]:
        """Queue a launch of a user; returns the roots that may start now, in order. Raises what `check` raises."""
        number = next(self._numbers)
        self._state, started = request_launch(self._state, self.terms, number, self.endowment(token_budget), user)
        self._number_of[root], self._root_of[number] = number, root
        return self._roots(started)

    def end(self, root: str) -> list[str]:
        """Release a root's claim, once it and its descendants have ended; returns the roots that may start."""
        number = self._number_of.pop(root, None)
        if number is None:
            return []
        del self._root_of[number]
        self._state, started = end_launch(self._state, self.terms, number)
        return self._roots(started)

    def reason(self) -> str:
        """Why launches are waiting."""
        limit = self._state.resume_below
        until = "" if limit is None else f"; launches resume once the claims have fallen to {limit:,.0f}"
        return (
            f"queued: running launches claim {self._state.claimed:,.0f} of the {self.terms.cap:,.0f} pages that may be "
            f"claimed{until}"
        )

    def check_integrity(self, live: Collection[str]) -> None:
        """Raises RuntimeError if a claim belongs to none of the `live` roots."""
        known = {*self._state.claims, *(launch.account for launch in self._state.queue)}
        if known != set(self._root_of) or any(root not in live for root in self._number_of):
            raise RuntimeError("admission: a claim belongs to a launch that has ended")

    def _roots(self, numbers: Iterable[int]) -> list[str]:
        return [self._root_of[number] for number in numbers]


PLACES_TAKEN = "queued: the limit of concurrent processes is reached"
STARTS_WAIT = "queued: other programs of this user are starting, users start in turn"


@dataclass(slots=True)
class AdmissionQueue:
    """Launch roots wait for the pages they claim, in order (Q11), then for a place among the running processes and
    among those of their user that are starting. Users get places in turn.

    `open_admission` is called at the first launch. `start` starts a record.
    """

    open_admission: Callable[[], PageAdmission]
    start: Callable[[ProcessRecord], None]
    limits: RegistryLimits
    running: int = 0
    closed: bool = False
    _admission: PageAdmission | None = None
    _records: dict[str, ProcessRecord] = field(default_factory=dict[str, ProcessRecord])
    _queues: dict[str, deque[ProcessRecord]] = field(default_factory=dict[str, deque[ProcessRecord]])
    """By user; who got a place last comes last."""
    _starting: dict[str, str] = field(default_factory=dict[str, str])
    """The users of processes that are starting."""
    _turns: dict[str, "asyncio.Future[None]"] = field(default_factory=dict[str, "asyncio.Future[None]"])
    _family_sizes: Counter[str] = field(default_factory=Counter[str])

    def check(self, token_budget: int | None) -> None:
        """Raises AdmissionError if such a launch root can never be admitted."""
        self._admitting().check(token_budget)

    def register(self, record: ProcessRecord) -> None:
        """Count a process in its family."""
        self._family_sizes[record.root] += 1

    def unregister(self, record: ProcessRecord) -> None:
        """Remove a process that has ended or did not start. A claim ends with the last process of its family."""
        queue = self._queues.get(record.username, deque())
        if record in queue:
            queue.remove(record)
        self._starting.pop(record.id, None)
        self._records.pop(record.id, None)
        self._family_sizes[record.root] -= 1
        if not self._family_sizes[record.root]:
            del self._family_sizes[record.root]
            if self._admission is not None:
                self._admit(self._admission.end(record.root))
        self.start_waiting()

    def enqueue(self, record: ProcessRecord) -> None:
        """Start a launch root as soon as possible; until then its state is `queued`, with a `reason`."""
        self._records[record.id] = record
        admission = self._admitting()
        started = admission.request(record.id, record.username, record.token_budget)
        if record.id not in started:
            record.reason = admission.reason()
        self._admit(started)

    async def wait_for_turn(self, record: ProcessRecord, waits: Callable[[ProcessRecord], None]) -> None:
        """Wait until a launch root is admitted; it then needs no place. `waits` is called if it has to wait.

        Raises ProcessCancelledError if it was terminated.
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
            raise ProcessCancelledError("launch: terminated before it started", hint="launch it again")

    def release_waiter(self, record: ProcessRecord) -> None:
        """End `wait_for_turn` for a record that has ended."""
        turn = self._turns.get(record.id)
        if turn is not None and not turn.done():
            turn.set_result(None)

    def start_waiting(self) -> None:
        """Start queued processes while there are places."""
        while not self.closed and not self._is_full and (record := self._next()) is not None:
            self.occupy_place(record)
            self._starting[record.id] = record.username
            self.start(record)

    def begun(self, record: ProcessRecord) -> None:
        """A process has started: another one of its user may start. Ignored if it was known to have."""
        if self._starting.pop(record.id, None) is not None:
            self.start_waiting()

    def occupy_place(self, record: ProcessRecord) -> None:
        """Mark a process as running."""
        record.state, record.reason = "running", ""
        self.running += 1

    def check_integrity(self, live: Iterable[ProcessRecord]) -> None:
        """Raises RuntimeError if the counts are inconsistent."""
        if any(record.state != "queued" for queue in self._queues.values() for record in queue):
            raise RuntimeError("admission queue: a process in it is not queued")
        found = Counter(record.root for record in live)
        if found != +self._family_sizes:
            raise RuntimeError(f"admission queue: counted families {self._family_sizes}, found {found}")
        if self._admission is not None:
            self._admission.check_integrity(found)

    def _admitting(self) -> PageAdmission:
        if self._admission is None:
            self._admission = self.open_admission()
        return self._admission

    @property
    def _is_full(self) -> bool:
        return self.limits.concurrent is not None and self.running >= self.limits.concurrent

    def _next(self) -> ProcessRecord | None:
        """The next to start; None if every user with launches that wait has enough that are starting."""
        starting = Counter(self._starting.values())
        for user, queue in list(self._queues.items()):
            if not queue:
                del self._queues[user]
            elif starting[user] < self.limits.starting:
                self._queues[user] = self._queues.pop(user)
                return queue.popleft()
        return None

    def _admit(self, roots: Iterable[str]) -> None:
        queued: list[ProcessRecord] = []
        for root in roots:
            record, turn = self._records[root], self._turns.get(root)
            if turn is None:
                self._queues.setdefault(record.username, deque()).append(record)
                queued.append(record)
            elif not turn.done():
                turn.set_result(None)
        self.start_waiting()
        for record in queued:
            if record.state == "queued":
                record.reason = PLACES_TAKEN if self._is_full else STARTS_WAIT
