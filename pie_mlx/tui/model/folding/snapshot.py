"""A server's snapshot of an engine, for a monitor that missed earlier events, as a state to fold later events into."""

from collections.abc import Mapping
from typing import Any

import msgspec

from pie_mlx.events import EngineStarted, McpTool, PageUsage, ProcessPages
from pie_mlx.figures import Recent
from pie_mlx.tui.model.context import Activity, ContextState
from pie_mlx.tui.model.mcp import McpState
from pie_mlx.tui.model.model_pool import AccountState, ModelPool, ModelStateName
from pie_mlx.tui.model.process import Outcome, ProcessState, ending
from pie_mlx.tui.model.state import NO_POOL, MonitorState

ENDED: dict[str, Outcome] = {"returned": "returned", "failed": "failed", "killed": "killed"}


class _Process(msgspec.Struct, frozen=True):
    id: str
    username: str
    program: str
    elapsed_secs: float = 0.0
    state: str = "running"
    input: str = ""
    parent: str | None = None
    pages: int = 0
    own_pages: int = 0


class _Ran(msgspec.Struct, frozen=True):
    id: str
    username: str
    program: str
    launched_seconds_ago: float
    ended_seconds_ago: float | None = None
    token_budget: int | None = None
    parent: str = ""
    input: str = ""
    tokens: int = 0
    passes: int = 0
    result: str = ""
    error_type: str = ""


class _Totals(msgspec.Struct, frozen=True):
    policy: str = ""
    ticks: int = 0
    tokens: int = 0
    tick_seconds: float = 0.0
    treasury: float = 0.0
    spilled_pages: int = 0
    spill: str = ""


class _Held(msgspec.Struct, frozen=True):
    own: int = 0
    shared: int = 0
    effective: float = 0.0


class _Context(msgspec.Struct, frozen=True):
    context: int
    process: str
    pages: int
    resident: bool
    bid: float = 0.0
    reason: str = ""
    account: int = 0
    parent: int = 0
    tokens: int | None = None
    held: _Held | None = None
    state: Activity | None = None
    asks: bool = False
    model: str = ""


class _Account(msgspec.Struct, frozen=True):
    account: int
    endowment: float
    balance: float
    dividend: float = 0.0
    defaulted: bool = False
    spent: float = 0.0


class _McpServer(msgspec.Struct, frozen=True):
    name: str
    transport: str = ""
    running: bool = False
    starts: int = 0
    calls: int = 0
    failures: int = 0
    last_error: str = ""
    stderr: tuple[str, ...] = ()
    tools: tuple[McpTool, ...] = ()


class _Market(msgspec.Struct, frozen=True):
    clearing_price: float = 0.0


class _Model(msgspec.Struct, frozen=True):
    name: str
    state: ModelStateName = "loaded"
    progress: float | None = None
    size_bytes: int = 0
    draft_model: str = ""


class _Pool(msgspec.Struct, frozen=True):
    model: str
    pages: PageUsage
    price: float = 0.0
    page_size: int = 16
    treasury: float = 0.0
    spilled_pages: int = 0
    ticks: int = 0
    accounts: tuple[_Account, ...] = ()
    processes: tuple[ProcessPages, ...] = ()


class _Snapshot(msgspec.Struct, frozen=True):
    model: str = ""
    totals: _Totals = _Totals()
    processes: tuple[_Process, ...] = ()
    ran: tuple[_Ran, ...] = ()
    contexts: tuple[_Context, ...] = ()
    market: _Market = _Market()
    pages: PageUsage = PageUsage(0, 0, 0, 0)
    accounts: tuple[_Account, ...] = ()
    mcp: tuple[_McpServer, ...] = ()
    page_size: int = 16
    recent: Recent = Recent()
    models: tuple[_Model, ...] = ()
    pools: tuple[_Pool, ...] = ()


def snapshot_state(snapshot: dict[str, Any], seconds: float, events: int = 1) -> MonitorState:
    """The state at `seconds`, after so many events. Earlier log lines and samples are unknown.

    Raises msgspec.ValidationError for a snapshot of another shape.
    """
    found = msgspec.convert(snapshot, _Snapshot, strict=False)
    accounts = {item.process: item.account for item in found.contexts}
    pools = _pools(found)
    return MonitorState(
        seconds=seconds,
        started_seconds=seconds,
        sampled_seconds=seconds,
        events=max(1, events),
        engine=EngineStarted(found.model, found.totals.policy, found.pages.total, found.page_size),
        pools=pools,
        tokens=found.totals.tokens,
        tick_seconds=found.totals.tick_seconds,
        processes=_processes(found, accounts, seconds),
        contexts={item.context: _context(item, _pool_of(item, pools, found.model), seconds) for item in found.contexts},
        mcp={item.name: _mcp(item) for item in found.mcp if item.starts},
        recent=found.recent,
    )


def _pools(found: _Snapshot) -> dict[str, ModelPool]:
    """The models with their pools; of an older server the only one."""
    named = found.models or (_Model(found.model),)
    first = _Pool(
        found.model,
        found.pages,
        found.market.clearing_price,
        found.page_size,
        found.totals.treasury,
        found.totals.spilled_pages,
        found.totals.ticks,
        found.accounts,
        tuple(ProcessPages(item.id, item.own_pages, item.pages - item.own_pages) for item in found.processes),
    )
    pools = {pool.model: pool for pool in (found.pools if found.models else (first,))}
    return {model.name: _pool(model, pools.get(model.name), found) for model in named}


def _pool(model: _Model, pool: _Pool | None, found: _Snapshot) -> ModelPool:
    known = ModelPool(
        model.name,
        model.state,
        progress=model.progress or 0.0,
        size_bytes=model.size_bytes,
        draft_model=model.draft_model,
    )
    if pool is None:
        return known
    return msgspec.structs.replace(
        known,
        page_size=pool.page_size,
        pages=pool.pages,
        price=pool.price,
        treasury=pool.treasury,
        spilled_pages=pool.spilled_pages,
        spill=found.totals.spill if model.name == found.model else "",
        ticks=pool.ticks,
        accounts={item.account: _account(item) for item in pool.accounts},
        held={item.process: item for item in pool.processes},
    )


def _processes(found: _Snapshot, accounts: dict[str, int], seconds: float) -> dict[str, ProcessState]:
    """Processes with their figures; queued ones, and all of an older server, have only those of the listing."""
    listed = {item.id: _process(item, accounts.get(item.id, 0), seconds) for item in found.processes}
    ran = {item.id: _ran(item, listed.get(item.id), accounts.get(item.id, 0), seconds) for item in found.ran}
    return {**ran, **{name: process for name, process in listed.items() if name not in ran}}


def _ran(item: _Ran, listed: ProcessState | None, account: int, seconds: float) -> ProcessState:
    process = ProcessState(
        item.id,
        item.username,
        item.program,
        seconds - item.launched_seconds_ago,
        item.token_budget,
        account=account,
        own_pages=listed.own_pages if listed else 0,
        shared_pages=listed.shared_pages if listed else 0,
        tokens=item.tokens,
        passes=item.passes,
        input=item.input,
        parent=item.parent,
    )
    if item.ended_seconds_ago is None:
        return process
    outcome, result = ending(item.error_type, item.result)
    return msgspec.structs.replace(
        process, outcome=outcome, result=result, ended_seconds=seconds - item.ended_seconds_ago
    )


def _process(item: _Process, account: int, seconds: float) -> ProcessState:
    return ProcessState(
        item.id,
        item.username,
        item.program,
        seconds - item.elapsed_secs,
        account=account,
        own_pages=item.own_pages,
        shared_pages=item.pages - item.own_pages,
        outcome=ENDED.get(item.state, ""),
        input=item.input,
        parent=item.parent or "",
    )


def _pool_of(item: _Context, pools: Mapping[str, ModelPool], first: str) -> ModelPool:
    """That of a context; an older server does not say which."""
    return pools.get(item.model) or pools.get(first) or NO_POOL


def _context(item: _Context, pool: ModelPool, seconds: float) -> ContextState:
    held = item.held or _Held()
    return ContextState(
        id=item.context,
        process=item.process,
        account=item.account,
        created=seconds,
        parent=item.parent,
        own_pages=held.own,
        shared_pages=held.shared,
        effective_pages=held.effective,
        held_tokens=item.pages * pool.page_size if item.tokens is None else item.tokens,
        bid=item.bid,
        activity=item.state or ("suspended" if not item.resident else "waiting" if item.reason else "running"),
        reason=item.reason,
        since=seconds,
        asks=item.asks,
        model=pool.name,
    )


def _account(item: _Account) -> AccountState:
    return AccountState(
        item.account,
        item.endowment,
        item.balance,
        dividend=item.dividend,
        defaulted=item.defaulted,
        spent=item.spent,
    )


def _mcp(item: _McpServer) -> McpState:
    return McpState(
        item.name,
        item.transport,
        "ready" if item.running else "stopped",
        starts=item.starts,
        calls=item.calls,
        errors=item.failures,
        last_error=item.last_error,
        stderr=item.stderr,
        tools=item.tools,
    )
