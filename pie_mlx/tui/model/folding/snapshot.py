"""A server's snapshot of an engine, for a monitor that missed earlier events, as a state to fold later events into."""

from typing import Any

import msgspec

from pie_mlx.events import EngineStarted, McpTool, PageUsage
from pie_mlx.figures import Recent
from pie_mlx.tui.model.context import Activity, ContextState
from pie_mlx.tui.model.mcp import McpState
from pie_mlx.tui.model.process import Outcome, ProcessState, ending
from pie_mlx.tui.model.state import AccountState, MonitorState

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


def snapshot_state(snapshot: dict[str, Any], seconds: float, events: int = 1) -> MonitorState:
    """The state at `seconds`, after so many events. Earlier log lines and samples are unknown.

    Raises msgspec.ValidationError for a snapshot of another shape.
    """
    found = msgspec.convert(snapshot, _Snapshot, strict=False)
    accounts = {item.process: item.account for item in found.contexts}
    return MonitorState(
        seconds=seconds,
        started_seconds=seconds,
        sampled_seconds=seconds,
        events=max(1, events),
        engine=EngineStarted(found.model, found.totals.policy, found.pages.total, found.page_size),
        ticks=found.totals.ticks,
        tokens=found.totals.tokens,
        tick_seconds=found.totals.tick_seconds,
        pages=found.pages,
        price=found.market.clearing_price,
        treasury=found.totals.treasury,
        spilled_pages=found.totals.spilled_pages,
        spill=found.totals.spill,
        processes=_processes(found, accounts, seconds),
        contexts={item.context: _context(item, found.page_size, seconds) for item in found.contexts},
        accounts={item.account: _account(item) for item in found.accounts},
        mcp={item.name: _mcp(item) for item in found.mcp if item.starts},
        recent=found.recent,
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


def _context(item: _Context, page_size: int, seconds: float) -> ContextState:
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
        held_tokens=item.pages * page_size if item.tokens is None else item.tokens,
        bid=item.bid,
        activity=item.state or ("suspended" if not item.resident else "waiting" if item.reason else "running"),
        reason=item.reason,
        since=seconds,
        asks=item.asks,
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
