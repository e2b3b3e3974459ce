"""What a server says about an engine whose earlier events nobody has kept, as a state to fold further events into."""

from typing import Any

import msgspec

from pie_mlx.events import EngineStarted, PageUsage
from pie_mlx.tui.model.context import ContextState
from pie_mlx.tui.model.process import Outcome, ProcessState
from pie_mlx.tui.model.state import MonitorState

PAGE_SIZE = 16
ENDED: dict[str, Outcome] = {"returned": "returned", "failed": "failed", "killed": "killed"}


class _Process(msgspec.Struct, frozen=True):
    id: str
    username: str
    program: str
    elapsed_secs: float = 0.0
    state: str = "running"


class _Context(msgspec.Struct, frozen=True):
    context: int
    process: str
    pages: int
    resident: bool
    bid: float = 0.0
    reason: str = ""


class _Market(msgspec.Struct, frozen=True):
    clearing_price: float = 0.0


class _Snapshot(msgspec.Struct, frozen=True):
    model: str = ""
    processes: tuple[_Process, ...] = ()
    contexts: tuple[_Context, ...] = ()
    market: _Market = _Market()
    pages: PageUsage = PageUsage(0, 0, 0, 0)


def snapshot_state(snapshot: dict[str, Any], seconds: float) -> MonitorState:
    """The state at `seconds`. Accounts, forks and tokens become known with the events that follow.

    Raises msgspec.ValidationError for a snapshot of another shape.
    """
    told = msgspec.convert(snapshot, _Snapshot, strict=False)
    contexts = {
        item.context: ContextState(
            id=item.context,
            process=item.process,
            account=0,
            created=seconds,
            held_tokens=item.pages * PAGE_SIZE,
            bid=item.bid,
            activity="suspended" if not item.resident else "waiting" if item.reason else "running",
            reason=item.reason,
            since=seconds,
        )
        for item in told.contexts
    }
    return MonitorState(
        seconds=seconds,
        started_seconds=seconds,
        sampled_seconds=seconds,
        events=1,
        engine=EngineStarted(told.model, "", told.pages.total, PAGE_SIZE),
        pages=told.pages,
        price=told.market.clearing_price,
        processes={item.id: _process(item, seconds) for item in told.processes},
        contexts=contexts,
    )


def _process(item: _Process, seconds: float) -> ProcessState:
    outcome = ENDED.get(item.state, "")
    return ProcessState(item.id, item.username, item.program, seconds - item.elapsed_secs, outcome=outcome)
