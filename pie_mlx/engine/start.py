"""From the settings of a model to its running parts."""

import asyncio
import os
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pie_mlx.calls import EmbeddingFormat, ModelInfo
from pie_mlx.engine.adapters import AdapterRegistry
from pie_mlx.engine.common import Common
from pie_mlx.engine.embedding.batches import PieceSize
from pie_mlx.engine.embedding.embedder import embedder_of
from pie_mlx.engine.embedding.queue import EncoderQueue
from pie_mlx.engine.hosting.processes import Processes
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.language import language_of
from pie_mlx.engine.market.accounting import Accounting
from pie_mlx.engine.model.encoders.pageless import EncoderNetwork
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.loading.load import loading_model, null_model, scripted_model
from pie_mlx.engine.model.memory import BatchSize, MemoryShare, wiring_facts
from pie_mlx.engine.model.parts import Parts, Pause, in_one
from pie_mlx.engine.model.rules.warming import RuleWarmer
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.model.runner.warm_up import warming_up
from pie_mlx.engine.paging.archive import SnapshotArchive, signature_of
from pie_mlx.engine.paging.disk.disk_cache import DiskCache
from pie_mlx.engine.paging.disk.idle import save_when_idle
from pie_mlx.engine.paging.disk.opening import open_disk_cache
from pie_mlx.engine.paging.prefill_rate import PrefillRate
from pie_mlx.engine.paging.spill import Spill, open_spill
from pie_mlx.engine.policies import Limits, policy
from pie_mlx.engine.pressure import MemoryKeeper, memory_reader
from pie_mlx.engine.scheduler.queue import SchedulerQueue
from pie_mlx.engine.scheduler.reports import PageReport
from pie_mlx.engine.services import Services
from pie_mlx.engine.settings import EngineSettings
from pie_mlx.engine.speculation.draft_head import DraftHeadRunner
from pie_mlx.engine.speculation.draft_model import DraftModelRunner
from pie_mlx.engine.speculation.draft_model.loading import allocate_together, load_draft_model
from pie_mlx.engine.speculation.drafts import Drafts
from pie_mlx.engine.text.conversation.chat import ChatRenderer
from pie_mlx.engine.text.tokens.byte_vocabulary import ByteVocabulary
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.events import OF_POOLS, EngineStarted, Event, SpillChanged


async def start_services(
    settings: EngineSettings,
    common: Common,
    progress: Callable[[str], None],
    stopping: AsyncExitStack,
    share: MemoryShare | None = None,
    on_pause: Callable[[Pause], None] = lambda pause: None,
    drafter: LoadedModel | None = None,
) -> Services:
    """Load the model, allocate the pool, begin to tick. Raises ModelError and OutOfPagesError.

    `stopping` ends what has begun, also where a later part fails to start. It may have its `share` of
    the memory. `on_pause` gets how much of the weights is loaded. The `drafter` is its draft model, where that is one
    of the engine's models.
    """
    policy(settings.policy)  # an unknown one is refused before anything is loaded
    emit = _emitter(common, settings.called)
    runner = Runner(common.device)
    stopping.push_async_callback(asyncio.to_thread, runner.close)
    model, draft = await _load_models(settings, runner, progress, share, on_pause, drafter)
    drafts = Drafts(
        None if draft is None else DraftModelRunner(runner, draft, vocabulary_size=model.vocabulary_size),
        None if model.head is None else DraftHeadRunner(runner, model.head),
    )
    stopping.push_async_callback(drafts.stop)
    language = language_of(model)
    stopping.callback(language.close)
    vectors = embedder_of(model, language.tokenizer, _open_encoder(settings, common, model, runner, stopping))
    archive = _open_archive(settings, model.name, model.config, language.tokenizer)
    stopping.push_async_callback(archive.close)
    spill = await _open_spill(settings, model, emit)
    disk = await _open_disk(settings, model, spill, emit)
    store = _page_store(settings, common, model)
    page_report = PageReport(store, emit)
    stopping.callback(page_report.close)
    emit = page_report.emit
    accounting = _open_accounting(settings, common, store.pool.capacity, emit)
    if model.name == common.names.default and model.name not in common.started:
        emit(EngineStarted(model.name, settings.policy, store.pool.capacity, settings.page_size))
    common.started.add(model.name)
    queue = _begin_to_tick(settings, common, store, runner, accounting, spill, disk, emit, stopping)
    model_info = _model_info(settings, model, language.chats.plain, vectors.format)
    rules = RuleWarmer(model_info) if model.backend.compiles else None
    if rules is not None:
        stopping.push_async_callback(rules.close)
    return Services(
        seed=common.seed,
        names=common.names,
        model_info=model_info,
        runner=runner,
        store=store,
        queue=queue,
        accounting=accounting,
        processes=Processes(accounting),
        language=language,
        vectors=vectors,
        adapters=AdapterRegistry(runner, store, limit=settings.max_adapters, emit=emit, numbers=common.adapters),
        drafts=drafts,
        archive=archive,
        disk=disk,
        page_report=page_report,
        emit=emit,
        details=common.details,
        rules=rules,
        jumps=settings.grammar_jumps and settings.script is None,  # a script follows a text token by token
        held_bytes=_held_bytes(model, draft),
    )


def _emitter(common: Common, name: str) -> Callable[[Event], None]:
    """Emits what happens to the model of that name: what is of a whole pool says whose, unless of the default model."""
    if name == common.names.default:
        return common.emit

    def emit(event: Event) -> None:
        common.emit(replace(event, model=name) if isinstance(event, OF_POOLS) else event)

    return emit


def _begin_to_tick(
    settings: EngineSettings,
    common: Common,
    store: PageStore,
    runner: Runner,
    accounting: Accounting,
    spill: Spill | None,
    disk: DiskCache | None,
    emit: Callable[[Event], None],
    stopping: AsyncExitStack,
) -> SchedulerQueue:
    queue = SchedulerQueue(
        store,
        runner,
        accounting,
        policy(settings.policy),
        _limits(settings),
        emit,
        spill=spill,
        disk=disk,
        runs_ahead=settings.runs_ahead,
        patience_seconds=settings.request_timeout_seconds,
        turns=common.shared_turns,
    )
    stopping.push_async_callback(queue.stop)
    if disk is not None:
        saving = asyncio.create_task(save_when_idle(lambda: queue.ticks, queue.save_pages))
        stopping.push_async_callback(_ended, saving)
    if settings.watches_memory:
        keeper = MemoryKeeper(memory_reader(), queue, runner, emit)
        keeper.start()
        stopping.push_async_callback(keeper.stop)
    return queue


async def _ended(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def _open_encoder(
    settings: EngineSettings, common: Common, model: LoadedModel, runner: Runner, stopping: AsyncExitStack
) -> EncoderQueue | None:
    if not isinstance(model.network, EncoderNetwork):
        return None
    size = PieceSize(settings.decode_stall_seconds, settings.max_batch_tokens)
    queue = EncoderQueue(runner, model.network.encoder, size, turns=common.shared_turns)
    stopping.push_async_callback(queue.stop)
    return queue


def _model_info(
    settings: EngineSettings, model: LoadedModel, chat: ChatRenderer, embedding: EmbeddingFormat
) -> ModelInfo:
    return ModelInfo(
        model.name,
        model.vocabulary_size,
        settings.page_size,
        model.maximum_positions,
        chat.formats(),
        model.hidden_size,
        sorted(chat.template.variables),
        chat.tokenizer.has_chat_template,
        model.network.attention_groups,
        not isinstance(model.network, EncoderNetwork),
        embedding,
    )


def _open_archive(
    settings: EngineSettings, name: str, config: Mapping[str, Any], tokenizer: Tokenizer
) -> SnapshotArchive:
    """It must not hold the model: weights and pool are given back when the runner lets go of them."""
    directory = None if settings.snapshot_directory is None else Path(settings.snapshot_directory)
    known_as = os.path.realpath(name) if Path(name).is_dir() else name
    return SnapshotArchive(
        directory,
        known_as,
        lambda: signature_of(config, tokenizer.backend.to_str()),
        persists=settings.persist_snapshots,
    )


async def _load_models(
    settings: EngineSettings,
    runner: Runner,
    progress: Callable[[str], None],
    share: MemoryShare | None,
    on_pause: Callable[[Pause], None],
    drafter: LoadedModel | None,
) -> tuple[LoadedModel, LoadedModel | None]:
    """The model and its draft model, with their pools, on the runner's thread."""
    model = await runner.load(_loading(settings, progress), on_pause)
    draft = await runner.in_parts(_allocate_pools_and_draft_model(settings, model, progress, share, drafter))
    if settings.wires_memory:
        held = (share.taken_bytes if share else 0) + _held_bytes(model, draft)
        progress(await runner.call(lambda: runner.device.residency.want(held, wiring_facts())))
    return model, draft


def _held_bytes(model: LoadedModel, draft: LoadedModel | None) -> int:
    """What a model takes of the memory with all that guesses for it."""
    held = (model, model.head and model.head.model, draft)
    return sum(one.held_bytes for one in held if one is not None)


def _limits(settings: EngineSettings) -> Limits:
    return Limits(
        max_batch_tokens=settings.max_batch_tokens,
        max_batch_contexts=settings.max_batch_contexts,
        prefill_chunk_tokens=settings.prefill_chunk_tokens,
        aging_window_ticks=settings.aging_window_ticks,
        decode_stall_seconds=settings.decode_stall_seconds,
    )


def _page_store(settings: EngineSettings, common: Common, model: LoadedModel) -> PageStore:
    return PageStore(
        pages=model.pages,
        page_size=settings.page_size,
        identity=model.identity,
        state_pages=model.state_pages,
        kept_state_bytes=model.kept_state_bytes,
        numbers=common.contexts,
    )


async def _open_disk(
    settings: EngineSettings, model: LoadedModel, spill: Spill | None, emit: Callable[[Event], None]
) -> DiskCache | None:
    """The cache of pages that outlive the engine, if it is configured."""
    if settings.disk_cache is None:
        return None
    prefill = PrefillRate() if spill is None else spill.costs.prefill
    return await open_disk_cache(settings.disk_cache, model, prefill, emit)


async def _open_spill(settings: EngineSettings, model: LoadedModel, emit: Callable[[Event], None]) -> Spill | None:
    return await open_spill(
        settings.spill_directory,
        page_bytes=model.pool.bytes() // model.pool.pages,
        max_bytes=settings.spill_max_bytes,
        notify=lambda notice: emit(SpillChanged(notice.state, notice.text)),
    )


def _open_accounting(
    settings: EngineSettings, common: Common, capacity_pages: int, emit: Callable[[Event], None]
) -> Accounting:
    return Accounting(
        page_size=settings.page_size,
        capacity_pages=capacity_pages,
        default_endowment_pages=settings.default_endowment_pages,
        default_token_limit=settings.default_token_limit,
        sells_pages=settings.policy == "market",
        emit=emit,
        wallets=common.wallets,
    )


def _loading(settings: EngineSettings, progress: Callable[[str], None]) -> Parts[LoadedModel]:
    if settings.dummy:
        return in_one(lambda: null_model(name=settings.called))
    if (script := settings.script) is not None:
        return in_one(
            lambda: scripted_model(
                script,
                lambda tokenizer: ByteVocabulary(tokenizer.backend_tokenizer).tokens,
                name=settings.called,
            )
        )
    return loading_model(
        settings.model,
        name=settings.called,
        dtype=settings.dtype,
        progress=progress,
        allow_download=settings.allow_download,
        git_revision=settings.revision,
        buffer_cache_bytes=settings.buffer_cache_bytes,
        kv=settings.kv_format,
        draft_head=settings.draft_head,
    )


def _allocate_pools_and_draft_model(
    settings: EngineSettings,
    model: LoadedModel,
    progress: Callable[[str], None],
    share: MemoryShare | None,
    drafter: LoadedModel | None,
) -> Parts[LoadedModel | None]:
    """Load the draft model, if there is one, and allocate the pools."""
    draft = None
    if settings.draft_model is not None:
        draft = load_draft_model(
            str(settings.draft_model),
            model,
            dtype=settings.dtype,
            progress=progress,
            allow_download=settings.allow_download,
            kv=settings.kv_format,
            drafter=drafter,
        )
    yield Pause()
    guessing = [one for one in (model.head and model.head.model, draft) if one is not None]
    allocate_together(
        model,
        guessing,
        pages=settings.total_pages,
        page_size=settings.page_size,
        memory_fraction=settings.kv_memory_fraction,
        headroom_bytes=settings.memory_headroom_bytes,
        largest_batch=BatchSize(settings.max_batch_tokens, settings.max_batch_contexts),
        share=share,
        progress=progress,
    )
    for each in (model, *guessing):
        yield from warming_up(each, progress)
    return draft
