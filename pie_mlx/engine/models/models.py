"""The models of an engine: which of them a call concerns, and loading and unloading them."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from typing import Any

from pie_mlx.calls import Call, LoadModel, ModelState
from pie_mlx.engine.common import Common
from pie_mlx.engine.handlers import Handler, handlers, lookups
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.model.memory import MemoryShare
from pie_mlx.engine.model.parts import Pause
from pie_mlx.engine.models.drafters import link_drafters, with_drafters
from pie_mlx.engine.models.freeing import free_memory
from pie_mlx.engine.models.residence import Load, Refuse, Unload, Wait, in_the_way, next_move
from pie_mlx.engine.models.size import capacity_bytes, expected_bytes
from pie_mlx.engine.models.slot import ModelSlot, ModelStatus
from pie_mlx.engine.models.waiting import WaitingList
from pie_mlx.engine.services import Services
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.engine.start import start_services
from pie_mlx.errors import (
    EngineStoppedError,
    ModelError,
    ModelLoadError,
    ModelNotFoundError,
    OutOfPagesError,
    PieError,
    ProtocolError,
)
from pie_mlx.events import ModelProgressed


class Models:
    """All on the engine's loop, but for `ready` and `status`, which any thread may ask.

    A call that concerns a model waits until that is loaded, and keeps it so until it is answered; a context keeps it
    until it is released. What a program knows of a model besides (its tokenizer, its name) stays true when it was
    unloaded and loaded again.
    """

    def __init__(
        self,
        settings: Sequence[EngineSettings],
        common: Common,
        progress: Callable[[str], None],
        memory_bytes: int | None = None,
    ) -> None:
        """They share `memory_bytes`, all that the device may use where that is None."""
        self._common, self._progress = common, progress
        self._slots = {one.called: ModelSlot(one, one.keep_alive_seconds) for one in settings}
        link_drafters(self._slots, common.names)
        common.roster.loaded = lambda: [services.model_info.name for services in self.loaded]
        common.roster.loading = self.loading
        common.roster.described = self.described
        common.roster.worked = self._count_loop_time
        self._capacity_bytes = capacity_bytes(memory_bytes)
        self._waiting = WaitingList()
        self._changed = asyncio.Event()
        self._busy = asyncio.Lock()
        self._mover: asyncio.Task[None] | None = None
        self._sole: Services | None = None
        """The only model of an engine with one, which is never unloaded: calls need not look for it."""

    async def start(self) -> None:
        """Load the models that are not lazy. Raises ModelError and OutOfPagesError; `stop` ends what has begun."""
        slots = list(self._slots.values())
        for slot in slots:
            self._tell(slot, "unloaded", "")
        for slot in slots:
            for one in with_drafters(slot) if slot.settings.load == "eager" else ():
                if one.services is None:
                    await self._load(one)
        if len(slots) == 1 and slots[0].services is not None and slots[0].keep_alive_seconds is None:
            self._sole = slots[0].services
        else:
            self._begin_to_move()

    def _begin_to_move(self) -> None:
        """From now on, models may be loaded and unloaded."""
        self._sole = None
        self._mover = asyncio.create_task(self._move_forever(), name="pie-models")

    async def stop(self) -> None:
        """Unload all, once no process owns anything of them."""
        if self._mover is not None:
            self._mover.cancel()
            await asyncio.gather(self._mover, return_exceptions=True)
        self._sole = None
        for slot in self._slots.values():
            slot.services = None
            await slot.stopping.aclose()

    # Calls.

    @property
    def loaded(self) -> list[Services]:
        """The models in memory, in the order of the configuration."""
        return [slot.services for slot in self._slots.values() if slot.services is not None]

    def _count_loop_time(self, user: str, seconds: float) -> None:
        for services in self.loaded:
            services.queue.count_loop_time(user, seconds)

    def services(self, name: str = "") -> Services:
        """The parts of a loaded model, of the default one without a name. Raises ModelError where it is not loaded."""
        slot = self._slot(name)
        if slot.services is None:
            raise ModelError(f"model {slot.name!r}: it is not in memory", hint=f"pie model load {slot.name}")
        return slot.services

    def ready(self, process: HostedProcess, message: Call[Any]) -> Services | None:
        """The model that a look-up concerns, if the process has used it and it can be asked at once."""
        if isinstance(message, LoadModel) and message.keep_alive_seconds is not None:
            return None
        if self._sole is not None:
            return self._sole
        slot = self._slots.get(self._common.names.aliases.get(name := _name(message), name))
        return None if slot is None or process.id not in slot.users else slot.services

    def join(self, process: HostedProcess) -> None:
        """A process takes part in the market of its default model from its start on."""
        slot = self._slots[process.models[0]]
        if slot.services is not None:
            self._seat(slot, slot.services, process)

    def answer(self, process: HostedProcess, message: Call[Any]) -> Awaitable[Any]:
        """The reply of the model that the call concerns. Raises what the handler raises, and ModelError."""
        handler = handlers.get(type(message)) or _look_up_in_turn
        if self._sole is not None:
            if not isinstance(message, LoadModel) or message.keep_alive_seconds is None:
                return handler(self._sole, process, message)
            self._begin_to_move()
        return self._answer_among(handler, process, message)

    async def _answer_among(self, handler: Handler[Any], process: HostedProcess, message: Call[Any]) -> Any:
        slot = self._concerned(process, message)
        if isinstance(message, LoadModel) and message.keep_alive_seconds is not None:
            slot.keep_alive_seconds = message.keep_alive_seconds if message.keep_alive_seconds >= 0 else None
        async with self._used(slot, process) as (services, seat):
            return await handler(services, seat, message)

    async def give_back(self, process: HostedProcess) -> None:
        """Release everything that a process owns, of whatever model."""
        for slot in self._slots.values():
            slot.leave(process.id, self._common.clock())
        for name, seat in list(process.seats.items()):
            services = self._slots[name].services
            if services is None:
                continue
            for context in list(seat.contexts.values()):
                await services.release(seat, context)
            seat.contexts.clear()
            seat.matchers.clear()
            services.processes.remove(seat)
            await services.adapters.sweep()
        self._changed.set()

    # Loading.

    def status(self) -> list[ModelStatus]:
        """Every model, in the order of the configuration."""
        now = self._common.clock()
        return [slot.status(now) for slot in self._slots.values()]

    def described(self) -> list[ModelState]:
        """The same for programs, with the longest context of those in memory."""
        now, names = self._common.clock(), self._common.names
        return [slot.described(now, names.aliases_of(slot.name)) for slot in self._slots.values()]

    def loading(self) -> dict[str, float]:
        """The part of its weights in memory for each model that is being loaded or waited for, by name and alias."""
        waited = self._waiting.models
        found = {
            name: slot.progress if slot.state == "loading" else 0.0
            for name, slot in self._slots.items()
            if slot.state == "loading" or name in waited
        }
        return found | {alias: found[name] for alias, name in self._common.names.aliases.items() if name in found}

    async def load(self, name: str) -> None:
        """Have a model in memory. Raises ModelNotFoundError, ModelLoadError and their kin."""
        slot = self._slot(name)
        if slot.services is None:
            await self._wait_for(slot, "")
            self._end(slot, "")

    async def unload(self, name: str) -> None:
        """Give a model's memory back now. Raises ModelError while programs use it or it has what would be lost."""
        slot = self._slot(name)
        async with self._busy:
            if slot.services is None:
                return
            slot.check_free()
            await self._unload(slot)
        self._changed.set()

    @asynccontextmanager
    async def _used(self, slot: ModelSlot, process: HostedProcess) -> AsyncGenerator[tuple[Services, HostedProcess]]:
        if slot.services is None or self._is_leaving(slot, process):
            await self._wait_for(slot, process.id)
        else:
            slot.begin(process.id)
        try:
            services = slot.services
            if services is None:
                raise EngineStoppedError("engine: already stopped", hint="start another engine")
            yield services, self._seat(slot, services, process)
        finally:
            self._end(slot, process.id)

    def _end(self, slot: ModelSlot, process: str) -> None:
        """A call of a process is over: the model may be unloaded now."""
        slot.end(process, self._common.clock())
        self._changed.set()

    def _seat(self, slot: ModelSlot, services: Services, process: HostedProcess) -> HostedProcess:
        """A process as the model knows it."""
        seat = process.seats.get(slot.name)
        if seat is None:
            is_first = slot.name == process.models[0]
            seat = process.seats[slot.name] = process if is_first else process.seat()
        services.processes.add(seat)
        return seat

    def _concerned(self, process: HostedProcess, message: Call[Any]) -> ModelSlot:
        """The model that a call names, or that owns what it names; otherwise the default one of the process."""
        if name := _name(message):
            return self._slot(name)
        context, matcher = getattr(message, "context", None), getattr(message, "matcher", None)
        adapter = getattr(message, "adapter", None) if context is None else None
        for model, seat in process.seats.items():
            slot = self._slots[model]
            if context in seat.contexts or matcher in seat.matchers:
                return slot
            if adapter and slot.services is not None and slot.services.adapters.has(adapter):
                return slot
        return self._slots[process.models[0]]

    def _slot(self, name: str) -> ModelSlot:
        return self._slots[self._common.names.resolve(name or self._common.names.default)]

    def _is_leaving(self, slot: ModelSlot, process: HostedProcess) -> bool:
        """Whether further processes must not use a loaded model, because another model needs its memory."""
        demands = self._waiting.demands
        if not demands or process.id in slot.holders():
            return False
        residents = [one.resident() for one in self._loaded()]
        return any(one.name == slot.name for one in in_the_way(residents, demands[0], self._capacity_bytes))

    def _loaded(self) -> list[ModelSlot]:
        return [slot for slot in self._slots.values() if slot.services is not None]

    async def _wait_for(self, slot: ModelSlot, process: str) -> None:
        """Until a model is loaded, with its draft model, and this call has begun to use it."""
        with ExitStack() as held:
            for one in with_drafters(slot)[:-1]:
                await self._wait_for_one(one, process)
                held.callback(self._end, one, process)
            await self._wait_for_one(slot, process)

    async def _wait_for_one(self, slot: ModelSlot, process: str) -> None:
        try:
            slot.size_bytes = slot.size_bytes or await asyncio.to_thread(expected_bytes, slot.settings)
        except ModelNotFoundError as raised:
            raise _without_files(slot, raised) from None
        waiting = self._waiting.add(slot, process, self._common.clock())
        self._changed.set()
        try:
            await waiting.done
        except asyncio.CancelledError:
            if waiting.done.done() and not waiting.done.cancelled() and waiting.done.exception() is None:
                self._end(slot, process)
            raise
        finally:
            if self._waiting.remove(waiting):
                self._changed.set()

    async def _move_forever(self) -> None:
        while True:
            self._changed.clear()
            async with self._busy:
                seconds = await self._move()
            if seconds != 0:
                try:
                    async with asyncio.timeout(seconds):
                        await self._changed.wait()
                except TimeoutError:
                    pass

    async def _move(self) -> float | None:
        """Make the next move; how long there is none then."""
        residents = [one.resident() for one in self._loaded()]
        match next_move(residents, self._waiting.demands, self._capacity_bytes, self._common.clock()):
            case Load(model=model):
                await self._load_for_waiting(self._slots[model])
            case Unload(model=model):
                await self._unload(self._slots[model])
            case Refuse(demand=demand, why=why):
                hint = "wait for it, unload others with 'pie model unload', or choose a smaller one"
                self._waiting.answer(demand.model, ModelLoadError(f"model {demand.model!r}: {why}", hint=hint), demand)
            case Wait(seconds=seconds):
                return seconds
        return 0.0

    async def _load_for_waiting(self, slot: ModelSlot) -> None:
        error: PieError | None = None
        if slot.services is None:
            try:
                await self._load(slot)
            except OutOfPagesError as raised:
                others = [one for one in self._loaded() if not one.keeps() and one is not slot.drafter]
                if others:  # it takes more than was expected: what is in its way leaves too
                    slot.size_bytes = self._capacity_bytes - self._taken_bytes(slot) + 1
                    self._waiting.resize(slot)
                    return
                error = raised
            except ModelNotFoundError as raised:
                error = _without_files(slot, raised)
            except PieError as raised:
                error = raised
            except Exception as raised:  # of MLX or mlx-lm: it must not keep other models from coming and going
                why = f"{type(raised).__name__}: {raised}"
                error = ModelLoadError(f"model {slot.name!r}: {why}", hint="report this, with the model's name")
        self._waiting.answer(slot.name, error)

    def _taken_bytes(self, besides: ModelSlot) -> int:
        return sum(slot.size_bytes for slot in self._loaded() if slot is not besides)

    async def _load(self, slot: ModelSlot) -> None:
        def report(line: str) -> None:
            slot.text = line
            self._progress(line)

        def told(pause: Pause) -> None:
            if slot.advance(pause) and self._comes_and_goes(slot):
                self._common.emit(ModelProgressed(slot.name, slot.progress, self._common.clock()))

        slot.progress = 0.0
        self._tell(slot, "loading", "")
        share = MemoryShare(self._capacity_bytes, self._taken_bytes(slot))
        drafter = slot.drafter and slot.drafter.services
        try:
            async with AsyncExitStack() as stopping:
                services = await start_services(
                    slot.settings, self._common, report, stopping, share, told, drafter and drafter.runner.model
                )
                slot.size_bytes = services.held_bytes
                slot.stopping, slot.services = stopping.pop_all(), services
        except Exception as error:
            self._tell(slot, "failed", str(error))
            raise
        slot.loaded_seconds = slot.used_seconds = self._common.clock()
        self._tell(slot, "loaded", "")

    async def _unload(self, slot: ModelSlot) -> None:
        slot.services, stopping = None, slot.stopping
        self._tell(slot, "unloading", "")
        await stopping.aclose()
        await free_memory(self._common.device)
        slot.keep_alive_seconds = slot.settings.keep_alive_seconds
        if slot.drafter is not None:
            slot.drafter.used_seconds = self._common.clock()
        self._tell(slot, "unloaded", "")

    def _comes_and_goes(self, slot: ModelSlot) -> bool:
        return len(self._slots) > 1 or slot.settings.load == "lazy" or slot.keep_alive_seconds is not None

    def _tell(self, slot: ModelSlot, state: Any, text: str) -> None:
        slot.state, slot.text = state, text
        if self._comes_and_goes(slot):
            self._common.emit(slot.changed(self._common.clock()))


def _name(message: Call[Any]) -> str:
    """The model that a call names, "" if it names none."""
    return message.name if isinstance(message, LoadModel) else getattr(message, "model", "")


def _without_files(slot: ModelSlot, error: ModelNotFoundError) -> ModelLoadError:
    """The engine knows the model's name: to programs it is not one that does not exist."""
    return ModelLoadError(f"model {slot.name!r}: {error.message}", hint=error.hint)


async def _look_up_in_turn(services: Services, process: HostedProcess, message: Call[Any]) -> Any:
    """Looks up, on a thread, what would block the engine's loop."""
    lookup = lookups.get(type(message))
    if lookup is None:
        raise ProtocolError(
            f"{type(message).__name__}: unknown to this engine", hint="use an engine of the SDK's version"
        )
    return await services.language.turns.run(process.id, lookup.steps(services, message), process.time.count)
