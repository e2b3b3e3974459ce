"""A running engine for tests: pie-tiny in a pool of a given size, one process at a time."""

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from typing import Any, TypeVar

from inferlet import Context, Model, Sampler
from inferlet._calls.host import use_host
from pie_mlx.calls import DescribeRuntime
from pie_mlx.engine.engine import EngineCore
from pie_mlx.engine.hosting.process import ProcessHost
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.paging.spill import Spill
from pie_mlx.engine.pressure import MemoryKeeper
from pie_mlx.engine.scheduler.reports import TickReports
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.scheduler.scheduler import Scheduler
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.engine.services import Services
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import SessionClosedError
from pie_mlx.events import Event
from tests.instances import instances

T = TypeVar("T")

PARTS = (TickState, Restorer, Scheduler, Spill, TickReports)

CHOSEN: dict[str, object] = {}
"""Settings of engines that a test does not give: see the fixture `random_model`."""


def finished(coroutine: Coroutine[Any, Any, T]) -> T:
    """The coroutine's result, also from inside a running loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


async def in_context(engine: "Running", coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a program's coroutine with the engine's host, in whatever thread this is."""
    with use_host(engine.host):
        return await coroutine


def small_prompt(tokens: int, seed: int = 0) -> list[int]:
    """Of the few tokens that tiny models know."""
    return [40 + (index * 7 + seed * 31) % 200 for index in range(tokens)]


class NoClient:
    """A session nobody listens to."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def message(self, text: str, format: str) -> None:
        self.messages.append(text)

    def file(self, data: bytes, name: str) -> None:
        self.messages.append(name)

    async def wait(self, what: str) -> None:
        raise SessionClosedError("session: no client", hint="launch with a client")

    def take_message(self) -> str | None:
        return None

    def take_file(self) -> bytes | None:
        return None


class Running:
    """An engine, its events, and the model as a program sees it."""

    def __init__(self, core: EngineCore, events: list[Event], host: ProcessHost, parts: Sequence[object] = ()) -> None:
        self.core, self.events, self.host, self.parts = core, events, host, parts

    def part(self, kind: type[T]) -> T:
        """The engine's own part of a kind, one of PARTS: for what has to happen, or be looked at, between two ticks."""
        (found,) = [part for part in self.parts if isinstance(part, kind)]
        return found

    @property
    def model(self) -> Model:
        """The model as the program of this moment sees it."""
        return Model.load(self.core.services.model_info.name)

    @property
    def store(self) -> PageStore:
        return self.core.services.store

    @cached_property
    def keeper(self) -> MemoryKeeper:
        """Acts on the readings of the system's memory that a test gives it."""
        services = self.core.services
        return MemoryKeeper(lambda: None, services.queue, services.runner, services.emit)

    def used_pages(self) -> int:
        self.host.call(DescribeRuntime())  # what was let go of has arrived then
        return self.store.usage().used

    def check_books(self) -> None:
        """Whether pages and the draft model's sequences balance; asked on the engine's loop, which changes them."""
        finished(self.core.consult(_check_books))

    def encode(self, text: str) -> list[int]:
        return self.model.tokenizer().encode(text)

    def prompt(self, tokens: int, seed: int = 0) -> list[int]:
        """Ordinary token ids, different for every seed."""
        known = min(400, self.core.services.model_info.vocabulary_size - 40)
        return [40 + (index * 7 + seed * 131) % known for index in range(tokens)]

    async def greedy(self, context: Context, tokens: int) -> list[int]:
        return await context.generate(Sampler.argmax(), max_tokens=tokens, stop=[], auto_flush=False).collect_tokens()

    @contextmanager
    def process(self, username: str = "tester", token_budget: int | None = None) -> Iterator[ProcessHost]:
        """Another program of a user; everything it owns is released at the end."""
        host = self.core.open_process(username=username, program="test", session=NoClient(), token_budget=token_budget)
        try:
            with use_host(host):
                yield host
        finally:
            finished(self.core.close_process(host.process_id))


def _check_books(services: Services) -> None:
    services.check_integrity()
    services.adapters.check_integrity()
    if services.drafts.model is not None:
        services.drafts.model.sequences.check_integrity()
    if services.drafts.head is not None:
        services.drafts.head.books.sequences.check_integrity()


@contextmanager
def engine_alone(**settings: object) -> Iterator[Running]:
    """Start an engine and a process; stop both at the end, and look whether the books balance."""
    events: list[Event] = []
    # A GPU computes in the format of the weights, in which passes of other shapes round to other numbers.
    # Where a draft model is looked at, the head of pie-tiny keeps out of its way.
    known = {"total_pages": 256, "seed": 7, "dtype": "float32", "draft_head": "draft_model" not in settings}
    known |= CHOSEN | settings
    core = EngineCore(EngineSettings(**known), emit=events.append)  # type: ignore[arg-type]
    with instances(*PARTS) as parts:
        finished(core.start())
    host = core.open_process(username="tester", program="test", session=NoClient())
    try:
        engine = Running(core, events, host, parts)
        yield engine
        engine.check_books()
    finally:
        finished(core.stop())


@contextmanager
def running(**settings: object) -> Iterator[Running]:
    """`engine_alone`, with its process as the program of this test."""
    with engine_alone(**settings) as started, use_host(started.host):
        yield started
