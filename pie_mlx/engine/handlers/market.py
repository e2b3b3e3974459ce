"""Bids, suspension on request, and what the market publishes."""

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.market import declared_bid, declared_horizon, expected_back, paid_priority, retained
from pie_mlx.engine.services import Services
from pie_mlx.errors import ContextBusyError
from pie_mlx.events import BidDeclared


@answers(calls.SetBid)
async def set_bid(services: Services, process: HostedProcess, call: calls.SetBid) -> float:
    context = process.context(call.context)
    context.bid, context.expected = declared_bid(call.bid), None
    services.emit(BidDeclared(context.id, context.bid))
    services.queue.wake()
    return context.bid


@answers(calls.Rebid)
async def rebid(services: Services, process: HostedProcess, call: calls.Rebid) -> float:
    context = process.context(call.context)
    services.rebid(process, context, declared_horizon(call.remaining_tokens, call.variation))
    services.queue.wake()
    return context.bid


@answers(calls.SuspendContext)
async def suspend(services: Services, process: HostedProcess, call: calls.SuspendContext) -> None:
    context = process.context(call.context)
    # Not behind the context's turn: a pass in flight must be told, not waited for (R2).
    if context.turn.locked():
        raise ContextBusyError(
            f"context {context.id}: a call on it is in flight", hint="await it before you suspend the context"
        )
    services.queue.suspend(context)


@answers(calls.RetainContext)
async def retain(services: Services, process: HostedProcess, call: calls.RetainContext) -> float:
    context, store = process.context(call.context), services.store
    now = store.pool.clock()
    found = retained(context.retention, call.priority, call.ttl_seconds, now)
    seconds = found.until_seconds - now
    store.contexts[context.id].demoted = False
    if not call.prepaid:
        context.retention = found
        services.queue.wake()
        return seconds
    pages = store.contexts[context.id].committed
    seconds = services.accounting.keep_pages(process.account, pages, call.priority, seconds, services.queue.ticks)
    store.keep(context.id, now + seconds, paid_priority(call.priority))
    return seconds


@answers(calls.ExpectContext)
async def expect(services: Services, process: HostedProcess, call: calls.ExpectContext) -> None:
    context = process.context(call.context)
    context.retention = expected_back(context.retention, call.seconds, services.store.pool.clock())
    services.queue.wake()


@answers(calls.DemoteContext)
async def demote(services: Services, process: HostedProcess, call: calls.DemoteContext) -> None:
    context = process.context(call.context)
    context.bid, context.expected, context.retention = 0.0, None, None
    services.store.contexts[context.id].demoted = True
    services.emit(BidDeclared(context.id, context.bid))
    services.queue.wake()


@answers(calls.PrefetchContext)
async def prefetch(services: Services, process: HostedProcess, call: calls.PrefetchContext) -> bool:
    context, store = process.context(call.context), services.store
    async with context.turn:
        context.check_live()
        if not store.contexts[context.id].usable:
            if store.suspender.restore_need(context.id) > services.queue.spare_pages():
                return False
            await services.queue.restore(context)
        return True


@answers(calls.ReadMarket)
async def read_market(services: Services, process: HostedProcess, call: calls.ReadMarket) -> calls.MarketReading:
    context = None if call.context is None else process.context(call.context).id
    return services.accounting.reading(process.account, context)
