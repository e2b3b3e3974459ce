"""The engine: models, each with a pool and a loop of ticks, and the replies to every call."""

import asyncio
import atexit
import concurrent.futures
import gc
import secrets
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, TypeVar, cast

from pie_mlx.calls import Call, Reuse
from pie_mlx.engine.common import Common
from pie_mlx.engine.handlers import lookups, process_handlers
from pie_mlx.engine.hosting.loop import EngineLoop
from pie_mlx.engine.hosting.ports import Ports
from pie_mlx.engine.hosting.process import Answering, HostedProcess, ProcessHost, Tap
from pie_mlx.engine.hosting.roster import Roster
from pie_mlx.engine.hosting.session import SessionPort
from pie_mlx.engine.market import endowment_credits
from pie_mlx.engine.model_names import ModelNames
from pie_mlx.engine.models.models import Models
from pie_mlx.engine.policies import AdmissionTerms
from pie_mlx.engine.services import Services
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.errors import EngineStoppedError
from pie_mlx.events import CallAnswered, Event, PageUsage, WantedDetails

T = TypeVar("T")
Reply = TypeVar("Reply")

ABOUT_CHARACTERS = 256

NO_POOL_PAGES = 1 << 20
"""What launches may claim while no model is in memory: the pools come with the first use."""

TURN_SECONDS = 2e-4
"""How long a thread keeps the interpreter when others want it. Python's 5 ms are longer than most steps: a stream would
wait for a program that computes in this process several times at each of them."""


class EngineCore:
    """Runs on its own thread and loop. Public methods may be called from any thread.

    `emit` receives every event on the engine's loop and must not block, those of `details` only while they are wanted.
    `progress` receives lines about loading.
    """

    def __init__(
        self,
        settings: EngineSettings | Sequence[EngineSettings],
        *,
        emit: Callable[[Event], None] = lambda event: None,
        details: WantedDetails | None = None,
        progress: Callable[[str], None] = lambda line: None,
        aliases: Mapping[str, str] | None = None,
        memory_bytes: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Of several models the first is the default. Raises InvalidArgumentError for names and `aliases` that clash.

        They share `memory_bytes`, or what the device may use. `clock` says how long one is not used.
        """
        self._clock = clock
        self._settings = [settings] if isinstance(settings, EngineSettings) else list(settings)
        self._names = ModelNames([one.called for one in self._settings], aliases or {})
        self._memory_bytes = memory_bytes
        self._emit = emit
        self._details = details or WantedDetails()
        self._progress = progress
        self._loop = EngineLoop()
        self._thread = threading.Thread(target=self._run_loop, name="pie-engine", daemon=True)
        self._models: Models | None = None
        self._common: Common | None = None
        self._stopping = AsyncExitStack()
        self._ending: concurrent.futures.Future[None] | None = None

    @property
    def services(self) -> Services:
        """The running parts of the default model. Raises EngineStoppedError before `start` and after `stop`, and
        ModelError while it is not in memory."""
        return self.models.services()

    @property
    def models(self) -> Models:
        """The models. Raises EngineStoppedError before `start` and after `stop`."""
        if self._models is None:
            raise EngineStoppedError("engine: not running", hint="start the engine first")
        return self._models

    @property
    def names(self) -> ModelNames:
        """What its models are called."""
        return self._names

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The engine's own loop, for code that carries calls to it from other processes."""
        return self._loop

    async def start(self) -> None:
        """Loads the models that are not lazy, and begins to tick. Raises ModelError and its subclasses; the engine is
        then stopped."""
        self._thread.start()
        try:
            await self._on_loop(self._start())
        except BaseException:
            await self._end()
            raise

    async def stop(self) -> None:
        """Ends every process, finishes the running batch, and frees the device. Idempotent.

        Continues if cancelled; a second call waits for the same end.
        """
        if self._models is not None or self._ending is not None:
            await self._end()

    def open_process(
        self,
        *,
        username: str,
        program: str,
        session: SessionPort,
        token_budget: int | None = None,
        process_id: str | None = None,
        parent: str | None = None,
        ports: Ports | None = None,
        tap: Tap | None = None,
        model: str = "",
    ) -> ProcessHost:
        """Registers a process and returns its host. Raises InvalidArgumentError for a budget below 1 (M2), and
        ModelNotFoundError.

        `process_id` is a UUID that no process has used; None draws one. With a `parent` the process shares that
        process's account (M1); EngineStoppedError is raised if the parent has ended. `ports` is what else it can reach.
        All its calls pass through the `tap`. Its default model is `model`, or else its parent's or the first.
        """
        models, roster = self.models, self._running().roster
        default = model and self._names.resolve(model)

        async def register() -> HostedProcess:
            process = roster.open(
                username,
                program,
                session,
                token_budget=token_budget,
                process_id=process_id,
                parent=parent,
                ports=ports,
                model=default,
            )
            models.join(process)
            return process

        process = asyncio.run_coroutine_threadsafe(register(), self._loop).result()
        if tap is None:
            return ProcessHost(self._loop, self.send, self._answer, process)
        tapped = partial(_tapped, tap, self._answer)
        return ProcessHost(self._loop, partial(self._send, tapped), tapped, process)

    async def close_process(self, process_id: str) -> Reuse:
        """Releases everything that a process owned (E7). Returns how its prompts came to have KV.

        Unknown ids are ignored, so closing twice is no error. Continues if cancelled; a second call waits for the same
        end.
        """
        process = None if self._common is None else self._common.roster.get(process_id)
        if process is None:
            return Reuse()
        await self._on_loop(self._close(process))
        return sum((seat.reuse for seat in process.seats.values()), Reuse())

    def admission_terms(self) -> AdmissionTerms:
        """How many pages launches may claim (Q11), of all models in memory."""
        settings, stores = self._settings[0], [services.store for services in self.models.loaded]
        return AdmissionTerms(
            sum(store.pool.capacity for store in stores) or NO_POOL_PAGES,
            settings.max_batch_contexts,
            settings.admission_oversubscription,
            stores[0].states.pages_each if stores else 0,
        )

    def endowment(self, token_budget: int | None) -> float:
        """The credits of a launch (M2). Raises InvalidArgumentError for a budget below 1."""
        settings = self._settings[0]
        return float(endowment_credits(token_budget, settings.page_size, settings.default_endowment_pages))

    async def page_usage(self) -> PageUsage:
        """The present use of the pages of all pools."""
        models = self.models

        async def read() -> PageUsage:
            found = [services.page_report.count().pages for services in models.loaded]
            return sum(found[1:], found[0]) if found else PageUsage(0, 0, 0, 0)

        return await self._on_loop(read())

    async def consult(self, question: Callable[[Services], T], model: str = "") -> T:
        """Runs `question` about a model, the default one without a name, on the engine's loop, which it must not block.
        Returns its result, raises its errors, ModelError while the model is not in memory, and ModelNotFoundError."""
        services = self.models.services(model)

        async def ask() -> T:
            return question(services)

        return await self._on_loop(ask())

    async def consult_all(self, question: Callable[[Services], T]) -> list[T]:
        """The same about every model in memory, in the order of the configuration."""
        models = self.models

        async def ask() -> list[T]:
            return [question(services) for services in models.loaded]

        return await self._on_loop(ask())

    async def load_model(self, name: str) -> None:
        """Has a model in memory. Raises ModelNotFoundError, ModelLoadError and their kin."""
        await self._on_loop(self.models.load(name))

    async def unload_model(self, name: str) -> None:
        """Gives a model's memory back. Raises ModelError while programs use it, and ModelNotFoundError."""
        await self._on_loop(self.models.unload(name))

    def send(self, process: HostedProcess, message: Call[Reply]) -> "concurrent.futures.Future[Reply]":
        """Begins a call. The future ends with the reply or a PieError. Cancelling it cancels the call (E5).

        Quick look-ups happen at once, on this thread: a change of threads would take longer.
        """
        lookup = lookups.get(type(message))
        if lookup is not None and not lookup.is_long(message):
            services = self.models.ready(process, message)
            if services is not None:
                return _done(partial(_look_up, services, process, message))
        return self._send(self._answer, process, message)

    def _send(
        self, answering: Answering, process: HostedProcess, message: Call[Reply]
    ) -> "concurrent.futures.Future[Reply]":
        coroutine = answering(process, message)
        try:
            return cast("concurrent.futures.Future[Reply]", asyncio.run_coroutine_threadsafe(coroutine, self._loop))
        except RuntimeError:
            coroutine.close()
            raise EngineStoppedError("engine: already stopped", hint="start another engine") from None

    async def _answer(self, process: HostedProcess, message: Call[Any]) -> Any:
        common, models = self._common, self._models
        if common is None or models is None:
            raise EngineStoppedError("engine: not running", hint="start the engine first")
        lookup = lookups.get(type(message))
        if (
            lookup is not None
            and not lookup.is_long(message)
            and (services := models.ready(process, message)) is not None
        ):
            return _look_up(services, process, message)
        process.check_open()
        alone = process_handlers.get(type(message))
        task = cast("asyncio.Task[object]", asyncio.current_task())
        process.calls[task] = message
        try:
            answer = models.answer(process, message) if alone is None else alone(process, message)
            if common.details.calls:
                return await _reported(common, process, message, answer)
            return await answer
        finally:
            del process.calls[task]

    async def _start(self) -> None:
        settings = self._settings
        seed = secrets.randbits(64) if settings[0].seed is None else settings[0].seed
        common = Common(seed, self._names, self._emit, self._details, Roster(self._names.names), clock=self._clock)
        async with AsyncExitStack() as stopping:
            stopping.push_async_callback(asyncio.to_thread, common.device.close)
            stopping.callback(common.roster.close)
            models = Models(settings, common, self._progress, self._memory_bytes)
            stopping.push_async_callback(models.stop)
            await models.start()
            # Assign here: the awaiting task may be cancelled.
            self._common, self._models = common, models
            self._stopping = stopping.pop_all()
        sys.setswitchinterval(min(sys.getswitchinterval(), TURN_SECONDS))

    def _running(self) -> Common:
        """Raises EngineStoppedError before `start` and after `stop`."""
        if self._common is None:
            raise EngineStoppedError("engine: not running", hint="start the engine first")
        return self._common

    async def _end(self) -> None:
        if self._ending is None:
            self._ending = asyncio.run_coroutine_threadsafe(self._end_all(), self._loop)
            self._ending.add_done_callback(lambda _: self._loop.call_soon_threadsafe(self._loop.stop))
        await asyncio.to_thread(self._thread.join)
        self._ending.result()

    async def _end_all(self) -> None:
        """Ends everything on the engine's loop."""
        if self._models is None:  # a cancelled start, which may still complete
            await _cancel_others()
        common, models, self._models = self._common, self._models, None
        if common is not None and models is not None:
            await asyncio.gather(*(self._close(process, models) for process in common.roster.values()))
            self._common = None
            await self._stopping.aclose()
        await _cancel_others()

    async def _close(self, process: HostedProcess, models: Models | None = None) -> None:
        models = models or self._models
        if process.closing is None and models is not None and self._common is not None:
            process.closing = asyncio.create_task(_give_back(self._common, models, process))
        if process.closing is not None:
            await asyncio.shield(process.closing)

    async def _on_loop(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, self._loop))

    def _run_loop(self) -> None:
        self._loop.run_forever()
        self._loop.finish()


@atexit.register
def _collect() -> None:
    """Collects now: arrays that die with the interpreter may abort it, because MLX's threads then wait for freed
    objects."""
    gc.unfreeze()
    gc.collect()


async def _reported(common: Common, process: HostedProcess, message: Call[Any], answer: Awaitable[Any]) -> Any:
    """Answers a call and emits when it was answered."""
    began_seconds, error = common.clock(), ""
    try:
        return await answer
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        context, about = getattr(message, "context", 0), _about(message)
        kind = str(message.__struct_config__.tag)
        common.emit(CallAnswered(process.id, kind, began_seconds, common.clock(), context, about, error))


def _about(message: Call[Any]) -> str:
    """The topic, child or server that a call names, cut."""
    named = (getattr(message, name, "") for name in ("topic", "child", "server", "program"))
    return next((name[:ABOUT_CHARACTERS] for name in named if isinstance(name, str) and name), "")


def _look_up(services: Services, process: HostedProcess, message: Call[Any]) -> Any:
    process.check_open()
    return lookups[type(message)].find(services, message)


async def _tapped(tap: Tap, answering: Answering, process: HostedProcess, message: Call[Any]) -> Any:
    return await tap.answer(message, partial(answering, process))


def _done(find: Callable[[], T]) -> "concurrent.futures.Future[T]":
    future: concurrent.futures.Future[T] = concurrent.futures.Future()
    try:
        future.set_result(find())
    except Exception as error:
        future.set_exception(error)
    return future


async def _cancel_others() -> None:
    """Lets unfinished tasks clean up before the loop ends, for example a cancelled start."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _give_back(common: Common, models: Models, process: HostedProcess) -> None:
    """Releases everything that a closed process owns."""
    for seat in process.seats.values():
        for context in seat.contexts.values():
            context.released = True  # no pass continues for its tokens
    tasks = list(process.calls)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if process.ports is not None:
        process.ports.messaging.close()
    await models.give_back(process)
    if common.roster.remove(process):
        common.wallets.pop(process.account, None)
