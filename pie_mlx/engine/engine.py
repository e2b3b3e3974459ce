"""The engine: one model, one pool, one loop of ticks, and the replies to every call."""

import asyncio
import atexit
import concurrent.futures
import gc
import secrets
import sys
import threading
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from functools import partial
from typing import Any, TypeVar, cast

from pie_mlx.calls import Call, Reuse
from pie_mlx.engine.handlers import handlers, lookups
from pie_mlx.engine.hosting.loop import EngineLoop
from pie_mlx.engine.hosting.ports import Ports
from pie_mlx.engine.hosting.process import Answering, HostedProcess, ProcessHost, Tap
from pie_mlx.engine.hosting.session import SessionPort
from pie_mlx.engine.market import endowment_credits
from pie_mlx.engine.policies import AdmissionTerms
from pie_mlx.engine.services import Services
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.engine.start import start_services
from pie_mlx.errors import EngineStoppedError, ProtocolError
from pie_mlx.events import CallAnswered, Event, PageUsage, WantedDetails

T = TypeVar("T")
Reply = TypeVar("Reply")

ABOUT_CHARACTERS = 256

TURN_SECONDS = 1e-3
"""How long a thread keeps the interpreter when others want it. Python's 5 ms are longer than most steps: next to a
program that computes in this process, a stream of pie-tiny took 63 ms per token, and takes 18."""


class EngineCore:
    """Runs on its own thread and loop. Public methods may be called from any thread.

    `emit` receives every event on the engine's loop and must not block, those of `details` only while they are wanted.
    `progress` receives lines about loading.
    """

    def __init__(
        self,
        settings: EngineSettings,
        *,
        emit: Callable[[Event], None] = lambda event: None,
        details: WantedDetails | None = None,
        progress: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._settings = settings
        self._emit = emit
        self._details = details or WantedDetails()
        self._progress = progress
        self._loop = EngineLoop()
        self._thread = threading.Thread(target=self._run_loop, name="pie-engine", daemon=True)
        self._services: Services | None = None
        self._stopping = AsyncExitStack()
        self._ending: concurrent.futures.Future[None] | None = None

    @property
    def services(self) -> Services:
        """The running parts. Raises EngineStoppedError before `start` and after `stop`."""
        if self._services is None:
            raise EngineStoppedError("engine: not running", hint="start the engine first")
        return self._services

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The engine's own loop, for code that carries calls to it from other processes."""
        return self._loop

    async def start(self) -> None:
        """Loads the model and begins to tick. Raises ModelError and its subclasses; the engine is then stopped."""
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
        if self._services is not None or self._ending is not None:
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
    ) -> ProcessHost:
        """Registers a process and returns its host. Raises InvalidArgumentError for a budget below 1 (M2).

        `process_id` is a UUID that no process has used; None draws one. With a `parent` the process shares that
        process's account (M1); EngineStoppedError is raised if the parent has ended. `ports` is what else it can reach.
        All its calls pass through the `tap`.
        """
        services = self.services

        async def register() -> HostedProcess:
            return services.processes.open(
                username,
                program,
                session,
                token_budget=token_budget,
                process_id=process_id,
                parent=parent,
                ports=ports,
            )

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
        process = None if self._services is None else self._services.processes.get(process_id)
        if self._services is None or process is None:
            return Reuse()
        await self._on_loop(_close(self._services, process))
        return process.reuse

    def admission_terms(self) -> AdmissionTerms:
        """How many pages launches may claim (Q11)."""
        settings = self._settings
        store = self.services.store
        return AdmissionTerms(
            store.pool.capacity,
            settings.max_batch_contexts,
            settings.admission_oversubscription,
            store.states.pages_each,
        )

    def endowment(self, token_budget: int | None) -> float:
        """The credits of a launch (M2). Raises InvalidArgumentError for a budget below 1."""
        settings = self._settings
        return float(endowment_credits(token_budget, settings.page_size, settings.default_endowment_pages))

    async def page_usage(self) -> PageUsage:
        """The present use of the pool's pages."""
        services = self.services

        async def read() -> PageUsage:
            return services.page_report.count().pages

        return await self._on_loop(read())

    async def consult(self, question: Callable[[Services], T]) -> T:
        """Runs `question` on the engine's loop, which it must not block. Returns its result, raises its errors."""
        services = self.services

        async def ask() -> T:
            return question(services)

        return await self._on_loop(ask())

    def send(self, process: HostedProcess, message: Call[Reply]) -> "concurrent.futures.Future[Reply]":
        """Begins a call. The future ends with the reply or a PieError. Cancelling it cancels the call (E5).

        Quick look-ups happen at once, on this thread: a change of threads would take longer.
        """
        if (lookup := lookups.get(type(message))) is not None and not lookup.is_long(message):
            return _done(partial(self._look_up, process, message))
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

    def _look_up(self, process: HostedProcess, message: Call[Any]) -> Any:
        process.check_open()
        return lookups[type(message)].find(self.services, message)

    async def _answer(self, process: HostedProcess, message: Call[Any]) -> Any:
        lookup = lookups.get(type(message))
        if lookup is not None and not lookup.is_long(message):
            return self._look_up(process, message)
        services = self.services
        process.check_open()
        handler = handlers.get(type(message)) if lookup is None else _look_up_in_turn
        if handler is None:
            raise ProtocolError(
                f"{type(message).__name__}: unknown to this engine", hint="use an engine of the SDK's version"
            )
        task = cast("asyncio.Task[object]", asyncio.current_task())
        process.calls[task] = message
        try:
            if services.details.calls:
                return await _reported(services, process, message, handler(services, process, message))
            return await handler(services, process, message)
        finally:
            del process.calls[task]

    async def _start(self) -> None:
        seed = secrets.randbits(64) if self._settings.seed is None else self._settings.seed
        async with AsyncExitStack() as stopping:
            # Assign here: the awaiting task may be cancelled.
            self._services = await start_services(
                self._settings, seed, self._emit, self._details, self._progress, stopping
            )
            self._stopping = stopping.pop_all()
        sys.setswitchinterval(min(sys.getswitchinterval(), TURN_SECONDS))

    async def _end(self) -> None:
        if self._ending is None:
            services, self._services = self._services, None
            self._ending = asyncio.run_coroutine_threadsafe(self._end_all(services), self._loop)
            self._ending.add_done_callback(lambda _: self._loop.call_soon_threadsafe(self._loop.stop))
        await asyncio.to_thread(self._thread.join)
        self._ending.result()

    async def _end_all(self, services: Services | None) -> None:
        """Ends everything on the engine's loop."""
        if services is None:  # a cancelled start, which may still complete
            await _cancel_others()
            services, self._services = self._services, None
        if services is not None:
            await self._stop(services)
        await _cancel_others()

    async def _stop(self, services: Services) -> None:
        await asyncio.gather(*(_close(services, process) for process in services.processes.values()))
        await self._stopping.aclose()

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


async def _reported(services: Services, process: HostedProcess, message: Call[Any], answer: Awaitable[Any]) -> Any:
    """Answers a call and emits when it was answered."""
    began_seconds, error = services.clock(), ""
    try:
        return await answer
    except BaseException as raised:
        error = type(raised).__name__
        raise
    finally:
        context, about = getattr(message, "context", 0), _about(message)
        kind = str(message.__struct_config__.tag)
        services.emit(CallAnswered(process.id, kind, began_seconds, services.clock(), context, about, error))


def _about(message: Call[Any]) -> str:
    """The topic, child or server that a call names, cut."""
    named = (getattr(message, name, "") for name in ("topic", "child", "server", "program"))
    return next((name[:ABOUT_CHARACTERS] for name in named if isinstance(name, str) and name), "")


async def _look_up_in_turn(services: Services, process: HostedProcess, message: Call[Any]) -> Any:
    """Looks up, on a thread, what would block the engine's loop."""
    steps = lookups[type(message)].steps(services, message)
    return await services.language.turns.run(process.id, steps, process.time.count)


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


async def _close(services: Services, process: HostedProcess) -> None:
    if process.closing is None:
        process.closing = asyncio.create_task(_give_back(services, process))
    await asyncio.shield(process.closing)


async def _give_back(services: Services, process: HostedProcess) -> None:
    """Releases everything that a closed process owns."""
    for context in process.contexts.values():
        context.released = True  # no pass continues for its tokens
    tasks = list(process.calls)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    if process.ports is not None:
        process.ports.messaging.close()
    for context in list(process.contexts.values()):
        await services.release(process, context)
    process.contexts.clear()
    process.matchers.clear()
    services.processes.remove(process)
    await services.adapters.sweep()
