"""The state of one simulated context and of the script it runs."""

from collections.abc import Iterator
from dataclasses import dataclass

from pie_mlx.engine.market import Retention
from pie_mlx.engine.policies.simulation.pages import Chain
from pie_mlx.engine.policies.simulation.workload import Action, Program, Turn


@dataclass(slots=True)
class Thread:
    """One context. `pass_tokens` are still to run, of which a decode step has one; `lacking_pages` must come first.

    `replay_tokens` come before the pass after a restore that lost content. `attached_tokens` join with its first rows.
    `children` are branches still running, `awaits` the labels it waits for. `retention` is what it said
    of its last pause, `hint` that in words as long as it holds.
    """

    context: int
    account: int
    program: Program
    actions: Iterator[Action]
    chain: Chain
    parent: "Thread | None" = None
    turn: Turn | None = None
    turn_started_seconds: float = 0.0
    work_since_seconds: float = 0.0
    generated: int = 0
    pass_tokens: int = 0
    atomic: bool = False
    lacking_pages: int = 0
    replay_tokens: int = 0
    attached_tokens: int = 0
    bid: float = 0.0
    arrival: int = 0
    waiting_ticks: int = 0
    ran_tick: int = 0
    stay_rows: int = 0
    fresh: bool = False
    children: int = 0
    awaits: frozenset[int] = frozenset()
    finished: bool = False
    retention: Retention | None = None
    hint: str = ""

    @property
    def has_work(self) -> bool:
        return self.pass_tokens > 0
