"""One running inferlet as the engine knows it: what it owns, and the host that carries its calls to the engine."""

import asyncio
import concurrent.futures
import contextlib
import uuid
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeVar

from pie_mlx.calls import Call, ModelState, Reuse
from pie_mlx.engine.hosting.engine_time import EngineTime
from pie_mlx.engine.hosting.loop import Answer, LoopBridge, bridge_to, ended
from pie_mlx.engine.hosting.ports import Ports
from pie_mlx.engine.hosting.session import SessionPort
from pie_mlx.engine.hosting.transfers import Download, Upload
from pie_mlx.engine.kv.pages.record import Owner
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.errors import ContextReleasedError, EngineStoppedError, InvalidArgumentError

MOST_MATCHERS = 16_384
"""Matchers of one process: each takes some 6 KB."""


@dataclass(slots=True, eq=False)
class HostedProcess:
    """A process as one model knows it. It names only its own contexts and matchers; another's number is as good as a
    released one.

    `seats` are the same process as each model knows it, by the model's name; what is not of a model is of the seat at
    the default one, the first of `models`, which is made with the process. `closing` gives back what it owns, once it
    has been closed. `reuse` sums up its prompts. `token_watchers` learn what it draws.
    """

    username: str
    program: str
    session: SessionPort
    account: int
    time: EngineTime
    id: str = field(default_factory=lambda: str(uuid.uuid4()))
    contexts: dict[int, LiveContext] = field(default_factory=dict[int, LiveContext])
    matchers: dict[int, Matcher] = field(default_factory=dict[int, Matcher])
    calls: dict["asyncio.Task[object]", Call[Any]] = field(default_factory=dict["asyncio.Task[object]", Call[Any]])
    closing: "asyncio.Task[None] | None" = None
    ports: Ports | None = None
    upload: Upload | None = None
    download: Download | None = None
    reuse: Reuse = field(default_factory=Reuse)
    token_watchers: set[object] = field(default_factory=set[object])
    token_budget: int | None = None
    """The budget that its launch was given."""
    models: Sequence[str] = ()
    loaded: Callable[[], list[str]] = list
    loading: Callable[[], dict[str, float]] = dict
    described: Callable[[], list[ModelState]] = list
    instance_id: str = ""
    """Of its engine, as the models are that can be used, those in memory, those on their way there, and all of them."""
    seats: dict[str, "HostedProcess"] = field(default_factory=dict[str, "HostedProcess"])

    def seat(self) -> "HostedProcess":
        """The same process for another model."""
        return HostedProcess(
            self.username,
            self.program,
            self.session,
            self.account,
            self.time,
            self.id,
            calls=self.calls,
            ports=self.ports,
            token_watchers=self.token_watchers,
            token_budget=self.token_budget,
            models=self.models,
            loaded=self.loaded,
            loading=self.loading,
            described=self.described,
            instance_id=self.instance_id,
            seats=self.seats,
        )

    @property
    def owner(self) -> Owner:
        """Its user and name, as the owner of pages."""
        return Owner(self.username, f"{self.program} ({self.id[:8]})")

    @property
    def closed(self) -> bool:
        """Whether it makes no calls any more."""
        return self.closing is not None

    @property
    def outside(self) -> Ports:
        """Raises EngineStoppedError where no runtime gave this process ports."""
        if self.ports is None:
            raise EngineStoppedError(f"process {self.id}: no runtime around it", hint="launch it with Engine.launch")
        return self.ports

    def context(self, number: int) -> LiveContext:
        """Raises ContextReleasedError for a context that is gone or was never this process's."""
        found = self.contexts.get(number)
        if found is None:
            raise ContextReleasedError(
                f"context {number}: it was released", hint="create, fork or open another context"
            )
        found.named += 1
        return found

    def matcher(self, number: int) -> Matcher:
        """Raises InvalidArgumentError for a matcher that is gone or was never this process's."""
        found = self.matchers.get(number)
        if found is None:
            raise InvalidArgumentError(f"matcher {number}: it was released", hint="compile the grammar again")
        return found

    def matchers_of(self, numbers: Sequence[int]) -> list[Matcher]:
        """Raises InvalidArgumentError for a matcher that is gone, and for one named twice: it would move on twice."""
        if not numbers:
            return []
        if len(numbers) > len(self.matchers) or len(set(numbers)) < len(numbers):
            raise InvalidArgumentError("matchers: one is named twice, or was released", hint="name each once")
        return [self.matcher(number) for number in numbers]

    def keep_matcher(self, number: int, matcher: Matcher) -> None:
        """Raises InvalidArgumentError when there are too many."""
        if len(self.matchers) >= MOST_MATCHERS:
            raise InvalidArgumentError(
                f"matchers: this process has {len(self.matchers)}, the limit", hint="let go of those that are done"
            )
        self.matchers[number] = matcher

    def check_open(self) -> None:
        """Raises EngineStoppedError once the process has been closed."""
        if self.closing is not None:
            raise EngineStoppedError(f"process {self.id}: it has ended", hint="launch the program again")


Reply = TypeVar("Reply")


class Sender(Protocol):
    """Begins a call on the engine's loop. Cancelling the future cancels the call."""

    def __call__(self, process: HostedProcess, message: Call[Reply]) -> "concurrent.futures.Future[Reply]": ...


Answering = Callable[[HostedProcess, Call[Any]], Coroutine[Any, Any, Any]]
"""Answers a call on the engine's loop."""


class Tap(Protocol):
    """Stands between a process and the engine: gets each of its calls, on the engine's loop, in their order."""

    async def answer(self, message: Call[Any], answer: Answer) -> Any:
        """What the process gets: usually what `answer`, the engine, gives for the call."""
        ...


class ProcessHost:
    """A `calls.Host` bound to one process. Usable from any thread and loop except the engine's own.

    What lives on the engine's loop, because it carries calls in from elsewhere, uses `answer` there: it answers a call,
    raises the PieError, and withdraws the call when it is cancelled (E5). `time`, what the process costs the engine,
    belongs to that loop too.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, send: Sender, answer: Answering, process: HostedProcess
    ) -> None:
        """`loop` is the engine's."""
        self._loop = loop
        self._send = send
        self.process_id = process.id
        self.time = process.time
        self.answer: Answer = partial(answer, process)
        self._process = process
        self._way: LoopBridge | None = None

    def call(self, message: Call[Reply]) -> Reply:
        """Answer a call, blocking the calling thread. Raises the PieError the engine answers with."""
        self._hurry()
        try:
            return self._send(self._process, message).result()
        except concurrent.futures.CancelledError:
            raise ended() from None

    def submit(self, message: Call[Reply]) -> Coroutine[Any, Any, Reply]:
        """Answer a call. Cancelling withdraws it unless its batch is already running (E5)."""
        return self._take_way().submit(message, self.answer)

    def post(self, message: Call[Any]) -> None:
        """Send a call without waiting for its reply. It is answered before all that is sent later."""
        try:
            way = self._take_way()
        except RuntimeError:  # no loop runs here
            self._hurry()
            with contextlib.suppress(EngineStoppedError):
                self._send(self._process, message)
        else:
            way.post(message, self.answer)

    def _take_way(self) -> LoopBridge:
        """The bridge of the running loop. Raises RuntimeError where none runs."""
        way = bridge_to(self._loop)
        if way is not self._way:
            self._hurry()
            self._way = way
        return way

    def _hurry(self) -> None:
        """What was sent before, from whatever thread, leaves before what is sent now (P3)."""
        if self._way is not None:
            self._way.hurry()
