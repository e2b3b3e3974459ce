"""Bids, suspension on request, and what the market publishes."""

from pie_mlx import calls
from pie_mlx.engine.handlers.base import answers
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.market import declared_bid, declared_horizon
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


@answers(calls.ReadMarket)
async def read_market(services: Services, process: HostedProcess, call: calls.ReadMarket) -> calls.MarketReading:
    context = None if call.context is None else process.context(call.context).id
    return services.accounting.reading(process.account, context)
