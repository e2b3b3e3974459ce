"""One row per program: its status, its pages and its bid."""

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from pie_mlx.plural import plural
from pie_mlx.tui.model.context import ContextState, activity
from pie_mlx.tui.model.process import ProcessState
from pie_mlx.tui.model.state import MonitorState
from pie_mlx.tui.model.text import one_line
from pie_mlx.tui.model.views.forest import forest

Status = Literal["running", "restoring", "waiting", "suspended", "idle", "returned", "failed", "killed"]

LIVING: tuple[Status, ...] = ("running", "restoring", "waiting", "suspended", "idle")
ORDER: tuple[Status, ...] = (*LIVING, "returned", "failed", "killed")


OF_SCHEDULER = ("waiting: ", "suspended: ")
"""Reasons that begin so were asked for a moment ago; events tell sooner that they no longer hold."""


class ProgramRow(msgspec.Struct, frozen=True):
    """`own` pages of the pool are held by no other program, `shared` by others too. `rate` is in tokens per second,
    `bid` the highest of its contexts. `endpoint` is the path of a request that the program answers, such as
    /v1/messages; empty for other programs. `parent` is the program that started it, empty for one from outside;
    `spent` is what its launch, with all programs started from it, has paid for pages and tokens. Pages and credits are
    those of all models.

    Ages are whole seconds, so that the row of an idle program rarely changes.
    """

    id: str
    username: str
    program: str
    status: Status
    reason: str
    contexts: int
    own: int
    shared: int
    balance: float
    bid: float
    rate: float
    tokens: int
    age_seconds: float
    endpoint: str = ""
    parent: str = ""
    spent: float = 0.0

    @property
    def short_id(self) -> str:
        """A prefix of the id that is long enough for a command line."""
        return self.id[:8]


class FamilyRow(ProgramRow, frozen=True):
    """A row with the branches drawn before it."""

    branches: str = ""


def families(rows: Iterable[ProgramRow]) -> list[FamilyRow]:
    """The rows, programs below those that started them."""
    tree = forest(rows, lambda row: row.id, lambda row: row.parent)
    return [FamilyRow(**msgspec.structs.asdict(row), branches=branches) for row, branches in tree]


def program_rows(state: MonitorState, waits: Mapping[str, str] = {}) -> list[ProgramRow]:
    """A row for each live or remembered program, in order of launch. `waits` says what programs wait for outside the
    scheduler, by their ids."""
    contexts: dict[str, list[ContextState]] = {}
    for context in state.contexts.values():
        contexts.setdefault(context.process, []).append(context)
    return [
        _row(state, process, contexts.get(process.id, []), waits.get(process.id, ""))
        for process in state.processes.values()
    ]


def busiest(rows: Iterable[ProgramRow]) -> list[ProgramRow]:
    """Living programs, most pages first; then ended ones, latest first."""
    rows = list(rows)
    living = [row for row in rows if row.status in LIVING]
    ended = [row for row in rows if row.status not in LIVING]
    return sorted(living, key=lambda row: (-row.own - row.shared, -row.rate)) + ended[::-1]


def _row(state: MonitorState, process: ProcessState, contexts: list[ContextState], wait: str) -> ProgramRow:
    status, reason = _status(state, process, contexts)
    if status == "idle" and wait and not wait.startswith(OF_SCHEDULER):
        reason = one_line(wait)
    accounts = [pool.accounts[process.account] for pool in state.pools.values() if process.account in pool.accounts]
    ended = process.ended_seconds if process.outcome else state.seconds
    return ProgramRow(
        id=process.id,
        username=process.username,
        program=process.program,
        status=status,
        reason=reason,
        contexts=len(contexts),
        own=process.own_pages,
        shared=process.shared_pages,
        balance=sum(account.balance for account in accounts),
        bid=max((context.bid for context in contexts), default=0.0),
        rate=process.rate,
        tokens=process.tokens,
        age_seconds=float(int(max(0.0, ended - process.launched_seconds))),
        endpoint=process.endpoint,
        parent=process.parent,
        spent=sum(account.spent for account in accounts),
    )


def _status(state: MonitorState, process: ProcessState, contexts: list[ContextState]) -> tuple[Status, str]:
    """A program runs if one of its contexts does, even if others wait."""
    if process.outcome:
        return process.outcome, one_line(process.result)
    activities = [activity(context, state.seconds) for context in contexts]
    for status in LIVING[:-1]:
        if status in activities:
            return status, _reason(status, activities, contexts)
    return "idle", "its own code" if contexts else "holds no context"


def _reason(status: str, activities: list[str], contexts: list[ContextState]) -> str:
    if status == "running":
        counts = [f"{activities.count(other)} {other}" for other in LIVING[1:-1] if other in activities]
        return ", ".join([f"{activities.count('running')} of {plural(len(contexts), 'context')} in the batch", *counts])
    reason = next((c.reason for c, a in zip(contexts, activities, strict=True) if a == status and c.reason), "")
    return one_line(reason.removeprefix("waiting: ").removeprefix("suspended: "))
