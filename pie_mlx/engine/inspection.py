"""Inspects and controls running processes from outside. All functions run on the engine's loop."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import mlx.core as mx
import msgspec

from pie_mlx import calls
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.market import Account, declared_bid
from pie_mlx.engine.model.runner.token_watch import TokenWatch
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.errors import ContextBusyError, ProcessError
from pie_mlx.events import BidDeclared, ContextPages, PageUsage, ProcessPages
from pie_mlx.metal import page_bytes

_NEAREST = ("running", "restoring", "waiting", "suspended")
"""States of contexts, the nearest to a token first."""


class ProcessStatus(msgspec.Struct, frozen=True):
    """A process as the engine sees it. `pages` are in the pool, `own_pages` of them in no other process; `bid` is its
    highest bid. Its launch, with all programs started from it, has a `balance` and has `spent` credits.

    `reason` is why it does not run, or what its calls wait for. `reuse` is of all its prompts.
    """

    state: str
    reason: str
    contexts: int
    pages: int
    own_pages: int
    balance: float
    spent: float
    bid: float
    reuse: calls.Reuse


class MarketStatus(msgspec.Struct, frozen=True):
    """The public figures of the market: the price in credits per page and tick, and contexts by state."""

    clearing_price: float
    contexts_running: int
    contexts_waiting: int
    contexts_suspended: int
    contexts_restoring: int


class PoolStatus(msgspec.Struct, frozen=True):
    """The pool of a model in memory, and its price in credits per page and tick."""

    model: str
    pages: PageUsage
    price: float


class MarketBooks(PoolStatus, frozen=True):
    """The same with what a monitor cannot count unless attached from the start: wallets, oldest first, and the pages of
    the processes that hold some."""

    page_size: int
    treasury: float
    ticks: int
    accounts: list[Account]
    processes: list[ProcessPages]


class ContextStatus(msgspec.Struct, frozen=True):
    """One context. `pages` counts committed and working ones; `resident` says whether they are in the pool. `held` are
    those in the pool by whether other contexts hold them too. `state` is running, waiting, suspended or restoring, and
    `reason` why; it `asks` for pages or a pass, or its program wants nothing of it.

    `parent` is the context it was forked from, 0 if none. `tokens` counts the tokens with KV.
    """

    context: int
    process: str
    pages: int
    resident: bool
    bid: float
    reason: str
    account: int = 0
    parent: int = 0
    tokens: int = 0
    held: ContextPages | None = None
    state: str = "running"
    asks: bool = False
    model: str = ""


class MemoryUse(msgspec.Struct, frozen=True):
    """Bytes that the engine's model takes: its weights, the pool of pages, and arrays of steps and caches beside."""

    weights_bytes: int
    pool_bytes: int
    other_bytes: int


class AdapterStatus(msgspec.Struct, frozen=True):
    """An adapter of a user and the bytes of its newest version. `evolves`: it accepts noise seeds."""

    username: str
    name: str
    version: int
    size_bytes: int
    evolves: bool


def memory_use(services: Services) -> MemoryUse:
    """What MLX has allocated now, by its use."""
    model = services.runner.model
    each = page_bytes(model.layers, services.model_info.page_size, model.card.dtype)
    weights, pool = model.card.weight_bytes, each * services.store.pool.capacity
    return MemoryUse(weights, pool, max(0, mx.get_active_memory() - weights - pool))


def tick_failure(services: Services) -> str:
    """Why computing has stopped for good, "" if it has not."""
    return str(services.queue.failure or "")


def adapter_statuses(services: Services) -> list[AdapterStatus]:
    """Every adapter, oldest first."""
    return [
        AdapterStatus(one.username, one.name, one.version, one.size_bytes, one.evolves)
        for one in services.adapters.all()
    ]


def process_statuses(services: Services) -> dict[str, ProcessStatus]:
    """Every process of the engine, by id."""
    counted = services.page_report.count().processes
    nothing = ProcessPages("", 0, 0)
    return {
        process.id: _status(services, process, counted.get(process.id, nothing))
        for process in services.processes.values()
    }


def joined_statuses(found: Iterable[dict[str, ProcessStatus]]) -> dict[str, ProcessStatus]:
    """What several models say of each process as one: its state is that of the context nearest to its next token."""
    joined: dict[str, ProcessStatus] = {}
    for statuses in found:
        for process, status in statuses.items():
            joined[process] = _joined(joined[process], status) if process in joined else status
    return joined


def _joined(one: ProcessStatus, other: ProcessStatus) -> ProcessStatus:
    first, second = sorted((one, other), key=lambda status: (not status.contexts, _NEAREST.index(status.state)))
    return ProcessStatus(
        state=first.state,
        reason=first.reason or second.reason,
        contexts=one.contexts + other.contexts,
        pages=one.pages + other.pages,
        own_pages=one.own_pages + other.own_pages,
        balance=one.balance + other.balance,
        spent=one.spent + other.spent,
        bid=max(one.bid, other.bid),
        reuse=one.reuse + other.reuse,
    )


def joined_markets(found: Sequence[MarketStatus]) -> MarketStatus:
    """Contexts of all models, and the price at the first of them."""
    counts = [sum(values) for values in zip(*(msgspec.structs.astuple(one)[1:] for one in found), strict=True)]
    return MarketStatus(found[0].clearing_price, *counts) if found else MarketStatus(0.0, 0, 0, 0, 0)


def joined_memory(found: Sequence[MemoryUse]) -> MemoryUse:
    """What all models take; beside weights and pools, what no model of them accounts for."""
    weights, pools = sum(one.weights_bytes for one in found), sum(one.pool_bytes for one in found)
    return MemoryUse(weights, pools, max(0, mx.get_active_memory() - weights - pools))


def market_status(services: Services) -> MarketStatus:
    """The figures of the latest tick."""
    contexts = (context for process in services.processes.values() for context in process.contexts.values())
    counts = Counter(_activity(services, context) for context in contexts)
    each = (counts[state] for state in ("running", "waiting", "suspended", "restoring"))
    return MarketStatus(services.accounting.price, *each)


def pool_status(services: Services) -> PoolStatus:
    """The use of a model's pages now, and its latest price."""
    return PoolStatus(services.model_info.name, services.page_report.count().pages, services.accounting.price)


def market_books(services: Services) -> MarketBooks:
    """The pool and the market of a model."""
    counted, ledger = services.page_report.count(), services.accounting.ledger
    return MarketBooks(
        services.model_info.name,
        counted.pages,
        services.accounting.price,
        services.model_info.page_size,
        ledger.treasury,
        services.queue.ticks,
        sorted(ledger.accounts.values(), key=lambda account: account.account),
        [pages for pages in counted.processes.values() if pages.own or pages.shared],
    )


def context_statuses(services: Services) -> list[ContextStatus]:
    """Every live context."""
    counted = services.page_report.count().contexts
    return [
        _context(services, process, context, counted.get(context.id))
        for process in services.processes.values()
        for context in process.contexts.values()
    ]


def set_bid(services: Services, process_id: str, bid: float) -> int:
    """Declares a bid for all contexts of a process. Returns their number. Raises InvalidArgumentError and
    ProcessError."""
    declared = declared_bid(bid)
    contexts = list(_process(services, process_id).contexts.values())
    for context in contexts:
        context.bid, context.expected = declared, None
        services.emit(BidDeclared(context.id, declared))
    services.queue.wake()
    return len(contexts)


def watch_tokens(services: Services, process_id: str, watcher: object) -> None:
    """Emits TokensDrawn for a process until each watcher has left. Raises ProcessError for one that is not running."""
    process = _process(services, process_id)
    process.token_watchers.add(watcher)
    for context in process.contexts.values():
        context.watch = context.watch or TokenWatch()


def unwatch_tokens(services: Services, process_id: str, watcher: object) -> None:
    """Undoes `watch_tokens`. A process that has ended is ignored."""
    process = services.processes.get(process_id)
    if process is None:
        return
    process.token_watchers.discard(watcher)
    for context in process.contexts.values() if not process.token_watchers else ():
        context.watch = None


def suspend(services: Services, process_id: str) -> int:
    """Suspends all contexts of a process until it uses them again (R2). Returns their number.

    Raises ContextBusyError if one has a call in flight, ProcessError for a process that is not running.
    """
    contexts = list(_process(services, process_id).contexts.values())
    for context in contexts:
        if context.turn.locked():
            raise ContextBusyError(
                f"context {context.id}: a call on it is in flight", hint="try again, or end the process"
            )
    for context in contexts:
        services.queue.suspend(context)
    return len(contexts)


def _process(services: Services, process_id: str) -> HostedProcess:
    found = services.processes.get(process_id)
    if found is None:
        raise ProcessError(f"process {process_id}: it is not running", hint="list the processes that are")
    return found


def _status(services: Services, process: HostedProcess, counted: ProcessPages) -> ProcessStatus:
    contexts = list(process.contexts.values())
    activities = [_activity(services, context) for context in contexts]
    state = _state(activities)
    reasons = [
        text
        for context, activity in zip(contexts, activities, strict=True)
        if activity == state and (text := _reason(services, context))
    ]
    account = services.accounting.ledger.accounts.get(process.account)
    return ProcessStatus(
        state=state,
        reason=next(iter(reasons or _waits(process)), ""),
        contexts=len(contexts),
        pages=counted.own + counted.shared,
        own_pages=counted.own,
        balance=account.balance if account else 0.0,
        spent=account.spent if account else 0.0,
        bid=max((context.bid for context in contexts), default=0.0),
        reuse=process.reuse,
    )


def _waits(process: HostedProcess) -> list[str]:
    """What the calls in flight wait for. Empty while one is computed."""
    found = [_wait(process, call) for call in process.calls.values()]
    return found if all(found) else []


def _wait(process: HostedProcess, call: calls.Call[Any]) -> str:
    match call:
        case calls.AwaitIncoming(what=what):
            return f"waits for its client: a {what}"
        case calls.AwaitMessage(topic=topic):
            return f"waits for a message of '{topic}'"
        case calls.AwaitBroadcast():
            return "waits for a broadcast"
        case calls.AwaitChild(child=child):
            return f"waits for its child {child[:8]}"
        case calls.LoadModel(name=name):
            loaded = process.loading().get(name, 0.0)
            return f"waits for the model '{name}' to be in memory: {loaded * 100:.0f} % of it is"
        case calls.CallMcp(server=server):
            return f"waits for the MCP server '{server}'"
        case _:
            return ""


def _state(activities: list[str]) -> str:
    """The state of the context that is nearest to its next token; "running" without contexts."""
    return next((state for state in _NEAREST if state in activities), _NEAREST[0])


def _activity(services: Services, context: LiveContext) -> str:
    if services.queue.restoring(context.id) is not None:
        return "restoring"
    if not services.store.contexts[context.id].resident:
        return "suspended"
    return "waiting" if services.queue.reason(context.id) is not None else "running"


def _reason(services: Services, context: LiveContext) -> str:
    if (restoring := services.queue.restoring(context.id)) is not None:
        return restoring.text
    reason = services.queue.reason(context.id)
    return "" if reason is None else reason.text()


def _context(
    services: Services, process: HostedProcess, context: LiveContext, held: ContextPages | None
) -> ContextStatus:
    return ContextStatus(
        context=context.id,
        process=process.id,
        pages=services.store.contexts[context.id].pages,
        resident=services.store.contexts[context.id].resident,
        bid=context.bid,
        reason=_reason(services, context),
        account=context.account,
        parent=context.parent,
        tokens=services.store.sequence_length(context.id),
        held=held,
        state=_activity(services, context),
        asks=services.queue.asks(context.id),
        model=services.model_info.name,
    )
