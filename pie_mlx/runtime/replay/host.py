"""The host of a replayed program: answers its calls from the recording."""

import asyncio
import heapq
import inspect
import itertools
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from pie_mlx.calls import Call
from pie_mlx.runtime.execution.program_run import Abandoned
from pie_mlx.runtime.replay.streams import ADVICE, LOOKUPS
from pie_mlx.runtime.replay.tape import Disagreement, Exchange, Tape
from pie_mlx.runtime.replay.virtual_time import VirtualTime

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Place:
    """A line of the program."""

    file: str
    line: int


class ReplayHost:
    """A `calls.Host` on a tape. `root` is the program's file or directory, `on_starve` is called when the program
    waits for what the recording never brings."""

    def __init__(self, tape: Tape, root: Path, on_starve: Callable[[], None]) -> None:
        self.disagreement: Disagreement | None = None
        self.place: Place | None = None
        self.is_over = False
        """Whether the program went beyond the end of a recording that was cut short."""
        self.has_starved = False
        """Whether it waited for what the recording never brings."""
        answers = [exchange.answered_ns for exchange in tape.exchanges if exchange.answered_ns is not None]
        self.time = VirtualTime(tape.launched.time_ns, tape.readings, answers)
        self._tape, self._root, self._on_starve = tape, str(root), on_starve
        self._lock = threading.RLock()
        self._made: list[tuple[Call[Any], Exchange]] = []
        self._unanswered: list[tuple[Call[Any], asyncio.Future[Any]]] = []
        self._order = itertools.count()
        self._coming: list[tuple[int, int, Exchange, asyncio.Future[Any]]] = []

    def call(self, message: Call[T]) -> T:
        exchange = self._exchange(message)
        if exchange.answered_ns is None:
            self._end()
        self._answered(exchange)
        return exchange.value()

    async def submit(self, message: Call[T]) -> T:
        exchange = self._exchange(message)
        if isinstance(message, (*LOOKUPS, *ADVICE)):
            return exchange.value()
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._lock:
            if exchange.answered_ns is not None:
                heapq.heappush(self._coming, (exchange.answered_ns, next(self._order), exchange, future))
            else:
                self._unanswered.append((message, future))
        return await future

    def post(self, message: Call[Any]) -> None:
        if type(message) not in ADVICE:  # tells of a difference where its reply is missed
            self._exchange(message)
        elif isinstance(found := self._tape.find(message), Exchange):
            self._made.append((message, found))

    def deliver(self, within_seconds: float | None) -> bool:
        with self._lock:
            while self._coming and self._coming[0][3].done():
                heapq.heappop(self._coming)
            if not self._coming:
                return False
            wait_ns = self._coming[0][0] - self.time.now_ns
            if within_seconds is not None and wait_ns > within_seconds * 1e9:
                return False
            _, _, exchange, future = heapq.heappop(self._coming)
        self._answer(exchange, future)
        return True

    def starve(self) -> None:
        self.has_starved = True
        if not self._tape.is_whole:
            self.is_over = True
        self._on_starve()

    def _answer(self, exchange: Exchange, future: asyncio.Future[Any]) -> None:
        """On the loop of the future."""
        if future.done():
            return
        self._answered(exchange)
        try:
            value = exchange.value()
        except Exception as error:
            future.set_exception(error)
        else:
            future.set_result(value)

    def _answered(self, exchange: Exchange) -> None:
        self.time.answered(exchange.answered_ns or 0)
        self._tape.compiled(exchange)

    def _exchange(self, message: Call[Any]) -> Exchange:
        """Raises Abandoned where the program differs, and from then on."""
        if self.disagreement is not None or self.is_over:
            raise Abandoned
        found = self._tape.find(message)
        if isinstance(found, Exchange):
            self._made.append((message, found))
            return found
        if found is None:
            self._end()
        self.disagreement = found
        self.place = _place_in(self._root)
        raise Abandoned

    def _end(self) -> NoReturn:
        self.is_over = True
        raise Abandoned


def _place_in(root: str) -> Place | None:
    """The line of the program that is being executed."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_code.co_filename.startswith(root):
            return Place(frame.f_code.co_filename, frame.f_lineno)
        frame = frame.f_back
    return None
