"""Contexts and their pages."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers
from pie_mlx.engine.handlers.forward.checkpointing import keep_state
from pie_mlx.engine.handlers.forward.continuation import check_claimed
from pie_mlx.engine.handlers.forward.drawn_tokens import report_drawn
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv import Fork
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.events import ContextCreated, ContextForked, PassCompleted


def _check_count(what: str, count: int) -> None:
    if count < 0:
        raise InvalidArgumentError(f"{what}: {count} is negative", hint="pass 0 or more")


@answers(calls.CreateContext)
async def create(services: Services, process: HostedProcess, call: calls.CreateContext) -> calls.ContextState:
    services.check_model(call.model)
    if not services.model_info.generates:
        raise InvalidArgumentError(
            f"context: {call.model} is an encoder, which writes no text",
            hint="use model.embed or model.rerank, over HTTP /v1/embeddings or /v1/rerank",
        )
    context = services.adopt(process, services.store.create())
    services.emit(ContextCreated(process.id, context.id, account=process.account, at_seconds=services.clock()))
    return calls.ContextState(context.id)


@answers(calls.ForkContext)
async def fork(services: Services, process: HostedProcess, call: calls.ForkContext) -> calls.ContextState:
    source = process.context(call.context)
    async with source.turn:
        source.check_live()
        network = services.runner.model.network
        state = network.state(source.id)
        if state is not None and state.size > 1:  # a row of a batch would keep all of it in memory
            alone = await services.runner.call(state.alone)
            if network.state(source.id) is state:
                network.set_state(source.id, alone)
        made = await _forked(services, source)
        services.queue.copy(made.copies)
        source.rests = True
        child = services.adopt(process, made.context, sampled=source.sampled, parent=source.id)
        if services.store.contexts[child.id].usable:  # else the source may be on its way back: its state is of a part
            network.set_state(child.id, network.state(source.id))
        services.drafts.fork(source.id, child.id)
        counters = services.store.contexts[child.id].counters()
        services.emit(
            ContextForked(process.id, child.id, source.id, counters.committed, process.account, services.clock())
        )
        return calls.ContextState(child.id, counters)


async def _forked(services: Services, source: LiveContext) -> Fork:
    """A fork of an off-pool context is off-pool too and takes no pages (P14)."""
    store = services.store
    if not store.contexts[source.id].usable:
        return store.fork(source.id)
    pages = store.pages_to_fork(source.id)
    return await services.queue.with_pages(source, pages, lambda: store.fork(source.id), binds=True)


@answers(calls.ReleaseContext)
async def release(services: Services, process: HostedProcess, call: calls.ReleaseContext) -> None:
    context = process.contexts.get(call.context)
    if context is None:
        return
    if call.claimed:
        _count_claimed(services, process, context, call.claimed)
    del process.contexts[call.context]
    try:
        await services.release(process, context)
    except asyncio.CancelledError:
        process.contexts[call.context] = context  # closing the process releases what it still has
        raise
    await services.adapters.sweep()


def _count_claimed(services: Services, process: HostedProcess, context: LiveContext, claimed: int) -> None:
    """Prefetched tokens that were used, where no later pass tells of them."""
    check_claimed(context, claimed)
    now, held = services.clock(), services.store.sequence_length(context.id)
    services.emit(PassCompleted(process.id, context.id, 0, claimed, claimed, held, now, now, following=claimed - 1))
    if context.watch is not None:
        report_drawn(services, process, context, context.watch, claimed=claimed)


@asynccontextmanager
async def _restored(services: Services, context: LiveContext, *, computes: bool = False) -> AsyncGenerator[None, None]:
    """Its turn, with its pages back in the pool, and what recurrent layers remember if it `computes`. Raises
    ContextReleasedError."""
    async with context.turn:
        context.check_live()
        await services.queue.restore(context, computes=computes)
        yield


@answers(calls.ReservePages)
async def reserve(services: Services, process: HostedProcess, call: calls.ReservePages) -> calls.PageCounters:
    _check_count("reserve_working_pages", call.pages)
    context = process.context(call.context)
    async with context.turn:
        context.check_live()
        store, pages = services.store, call.pages
        await services.queue.with_pages(context, pages, lambda: store.working.reserve(context.id, pages), binds=True)
        return store.contexts[context.id].counters()


@answers(calls.ReleasePages)
async def release_pages(services: Services, process: HostedProcess, call: calls.ReleasePages) -> calls.PageCounters:
    _check_count("release_working_pages", call.pages)
    context = process.context(call.context)
    async with _restored(services, context):
        services.store.working.release(context.id, call.pages)
        _truncated(services, context)
        services.queue.wake()
        return services.store.contexts[context.id].counters()


@answers(calls.CommitPages)
async def commit(services: Services, process: HostedProcess, call: calls.CommitPages) -> calls.PageCounters:
    _check_count("commit_working_pages", call.pages)
    context = process.context(call.context)
    async with _restored(services, context):
        services.store.working.commit(context.id, call.pages)
        return services.store.contexts[context.id].counters()


@answers(calls.TruncateTokens)
async def truncate(services: Services, process: HostedProcess, call: calls.TruncateTokens) -> calls.PageCounters:
    _check_count("truncate", call.tokens)
    context = process.context(call.context)
    async with _restored(services, context):
        services.store.working.truncate(context.id, call.tokens)
        context.counted = None
        _truncated(services, context)
        return services.store.contexts[context.id].counters()


def _truncated(services: Services, context: LiveContext) -> None:
    """Recurrent layers remember tokens that the context has no more: the next pass goes on from an earlier state."""
    network, tokens = services.runner.model.network, services.store.sequence_length(context.id)
    known, context.truncates = network.state(context.id), True
    if known is not None and known.tokens > tokens:
        network.set_state(context.id, None)


@answers(calls.CheckpointContext)
async def checkpoint(services: Services, process: HostedProcess, call: calls.CheckpointContext) -> None:
    context = process.context(call.context)
    if not services.runner.model.recurrent:
        return
    async with _restored(services, context, computes=True):
        keep_state(services, context.id)
