"""Adapters and their evolution."""

import math

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.hosting.transfers import Download, Upload
from pie_mlx.engine.model.adapters import AdapterContent, initial_content, read_adapter, updated, write_adapter
from pie_mlx.engine.services import Services
from pie_mlx.errors import AdapterError, AdapterFormatError, InvalidArgumentError

LARGEST_RANK = 1024
MOST_TARGETS = 64


@answers(calls.CreateAdapter)
async def create(services: Services, process: HostedProcess, call: calls.CreateAdapter) -> calls.AdapterState:
    services.check_model(call.model)
    return (await services.adapters.create(process.username, call.name)).state()


@answers(calls.OpenAdapter)
async def open_adapter(
    services: Services, process: HostedProcess, call: calls.OpenAdapter
) -> calls.AdapterState | None:
    services.check_model(call.model)
    found = services.adapters.open(process.username, call.name)
    return None if found is None else found.state()


@answers(calls.ForkAdapter)
async def fork(services: Services, process: HostedProcess, call: calls.ForkAdapter) -> calls.AdapterState:
    source = services.adapters.find(process.username, call.adapter)
    return (await services.adapters.fork(source, call.name)).state()


@answers(calls.DestroyAdapter)
async def destroy(services: Services, process: HostedProcess, call: calls.DestroyAdapter) -> None:
    await services.adapters.destroy(services.adapters.find(process.username, call.adapter))


@answers(calls.LoadAdapter)
async def load(services: Services, process: HostedProcess, call: calls.LoadAdapter) -> calls.AdapterState | None:
    adapter = services.adapters.find(process.username, call.adapter)
    bank = services.runner.model.adapters
    if call.offset == 0:
        if call.size_bytes < 1:
            raise AdapterFormatError("adapter: its weights are empty", hint="copy the adapter again")
        process.upload = None
        held = _held_bytes(services, process.username)
        process.upload = Upload(call.adapter, call.config, call.size_bytes)  # counts from here on
        try:
            await services.runner.call(lambda: bank.require_room(call.size_bytes, held))
        except BaseException:
            process.upload = None
            raise
    upload = process.upload
    if upload is None or upload.adapter != call.adapter:
        raise InvalidArgumentError(f"adapter {call.adapter}: no load has begun", hint="begin with offset 0")
    if not upload.add(call.offset, call.data):
        return None
    process.upload = None
    dtype = services.runner.model.card.dtype

    def read(before: AdapterContent) -> AdapterContent:
        del before
        return read_adapter(upload.config, bytes(upload.data), bank.targets, dtype)

    return await services.adapters.change(adapter, read)


@answers(calls.ReadAdapter)
async def read(services: Services, process: HostedProcess, call: calls.ReadAdapter) -> calls.AdapterPart:
    adapter = services.adapters.find(process.username, call.adapter)
    if call.offset == 0:
        content = await services.adapters.read(adapter)
        if not content.additions:  # a folder without matrices is one that no load takes
            raise AdapterError(
                f"adapter '{adapter.name}': it has no weights to save", hint="load some first, or call zo.initialize()"
            )
        bank = services.runner.model.adapters
        config, data = await services.runner.call(lambda: write_adapter(content, bank.blocks))
        process.download = Download(call.adapter, config, data)
    download = process.download
    if download is None or download.adapter != call.adapter:
        raise InvalidArgumentError(f"adapter {call.adapter}: no save has begun", hint="begin with offset 0")
    part = download.part(call.offset)
    if call.offset + len(part.data) == part.size_bytes:
        process.download = None
    return part


@answers(calls.InitializeEvolution)
async def initialize(services: Services, process: HostedProcess, call: calls.InitializeEvolution) -> calls.AdapterState:
    adapter = services.adapters.find(process.username, call.adapter)
    _check_initialisation(call)
    bank, held = services.runner.model.adapters, _held_bytes(services, process.username)

    def make(before: AdapterContent) -> AdapterContent:
        del before
        bank.require_room(bank.evolution_bytes(call.targets, call.rank), held)
        return initial_content(
            bank.targets,
            call.targets,
            rank=call.rank,
            alpha=call.alpha,
            population_size=call.population_size,
            mu_fraction=call.mu_fraction,
            initial_sigma=call.initial_sigma,
        )

    return await services.adapters.change(adapter, make)


@answers(calls.UpdateEvolution)
async def update(services: Services, process: HostedProcess, call: calls.UpdateEvolution) -> calls.AdapterState:
    adapter = services.adapters.find(process.username, call.adapter)
    _require("max_sigma", call.max_sigma > 0, call.max_sigma, "above 0")
    bank, held = services.runner.model.adapters, _held_bytes(services, process.username)

    def make(before: AdapterContent) -> AdapterContent:
        bank.require_room(before.size_bytes, max(0, held - before.size_bytes))  # which goes, unless it is in use
        return _next_generation(call, before)

    return await services.adapters.change(adapter, make)


def _held_bytes(services: Services, username: str) -> int:
    """What the adapters of a user take, those on their way included."""
    own = [process for process in services.processes.values() if process.username == username]
    coming = sum(process.upload.size_bytes for process in own if process.upload is not None)
    going = sum(len(process.download.data) for process in own if process.download is not None)
    return services.adapters.bytes_of(username) + coming + going


def _next_generation(call: calls.UpdateEvolution, content: AdapterContent) -> AdapterContent:
    state = content.evolution
    if state is None:
        raise InvalidArgumentError(
            "zo.update: the adapter is not initialised for it", hint="call zo.initialize() first"
        )
    size = state.population_size
    if not len(call.scores) == len(call.seeds) == size:
        raise InvalidArgumentError(
            f"zo.update: {len(call.scores)} scores and {len(call.seeds)} seeds for a population of {size}",
            hint="give one score and one seed for each member",
        )
    if not all(map(math.isfinite, call.scores)):
        raise InvalidArgumentError("zo.update: a score is not finite", hint="give failed members a very low score")
    if len(set(call.seeds)) < size or 0 in call.seeds:
        raise InvalidArgumentError("zo.update: seeds must differ and not be 0", hint="0 means no noise")
    for seed in call.seeds:
        _require("seed", calls.SMALLEST_SEED <= seed <= calls.LARGEST_SEED, seed, "a signed 64-bit integer")
    return updated(content, state, call.scores, call.seeds, call.max_sigma)


def _check_initialisation(call: calls.InitializeEvolution) -> None:
    _require("number of targets", len(call.targets) <= MOST_TARGETS, len(call.targets), f"at most {MOST_TARGETS}")
    _require("rank", 1 <= call.rank <= LARGEST_RANK, call.rank, f"1 to {LARGEST_RANK}")
    _require("alpha", 0 < call.alpha < math.inf, call.alpha, "above 0")
    _require("population_size", call.population_size >= 2, call.population_size, "at least 2")
    _require("mu_fraction", 0 < call.mu_fraction <= 1, call.mu_fraction, "above 0, at most 1")
    _require("initial_sigma", 0 < call.initial_sigma < math.inf, call.initial_sigma, "above 0")


def _require(what: str, holds: bool, value: float, rule: str) -> None:
    if not holds:
        raise InvalidArgumentError(f"zo: {what} is {value}", hint=f"it must be {rule}")
