"""What other systems do, as short imitations on the same planner, and oracles that know what programs will do.

They price nothing and bound no wait. All leave room for those who work to grow, and take pages of idle contexts first.
"""

import math
from collections.abc import Callable
from typing import final

from pie_mlx.engine.policies.base import Rank
from pie_mlx.engine.policies.plan import Plan
from pie_mlx.engine.policies.planner import make_plan
from pie_mlx.engine.policies.reason import Reason, ReasonKind
from pie_mlx.engine.policies.simulation import Simulator
from pie_mlx.engine.policies.victims import has_pages
from pie_mlx.engine.policies.view import ContextView, View

FIRST_QUANTUM_TOKENS = 32

Scale = Callable[[Simulator, ContextView], float]
"""The smaller, the sooner served."""


@final
class RivalOrder:
    leaves_room = True

    def __init__(self, simulator: Simulator, scale: Scale, *, preempts: bool) -> None:
        self._simulator, self._scale, self._preempts = simulator, scale, preempts

    def page_rank(self, context: ContextView) -> Rank:
        return (self._scale(self._simulator, context), context.account, context.context)

    batch_rank = page_rank

    def victim_rank(self, context: ContextView) -> Rank:
        return (context.has_work, *(-part for part in self.page_rank(context)))

    def yields(self, victim: ContextView, requester: ContextView) -> bool:
        if not victim.has_work:
            return True
        mine, theirs = self.page_rank(victim), self.page_rank(requester)
        if requester.resident and has_pages(requester):
            return mine > theirs
        return self._preempts and mine[0] > theirs[0]

    def why(self, victim: ContextView, requester: ContextView, pages: int) -> Reason:
        return Reason(ReasonKind.NEWER, pages=pages, suspended=True)

    def why_not(self, victim: ContextView, requester: ContextView, pages: int) -> Reason | None:
        return None

    def price(self) -> float:
        return 0.0


@final
class Rival:
    """A policy that sees the simulation it runs in: set `simulator` before the first plan."""

    sells_pages = False
    simulator: Simulator

    def __init__(self, name: str, scale: Scale, *, preempts: bool = False) -> None:
        self.name, self._scale, self._preempts = name, scale, preempts

    def plan(self, view: View) -> Plan:
        return make_plan(view, RivalOrder(self.simulator, self._scale, preempts=self._preempts))


class FairTokens:
    """Tokens an account was served, those of replies twice; who comes back starts no lower than the least of the rest.

    Sheng et al., Fairness in Serving Large Language Models (VTC).
    """

    def __init__(self) -> None:
        self._lifts: dict[int, float] = {}
        self._seen_tick: dict[int, int] = {}

    def __call__(self, simulator: Simulator, context: ContextView) -> float:
        account, tick = context.account, simulator.outcome.ticks
        if context.has_work and tick - self._seen_tick.get(account, -math.inf) > 1:
            active = [self._count(simulator, other) for other, seen in self._seen_tick.items() if tick - seen <= 1]
            lift = min(active, default=0.0) - self._count(simulator, account)
            self._lifts[account] = self._lifts.get(account, 0.0) + max(0.0, lift)
        if context.has_work:
            self._seen_tick[account] = tick
        return self._count(simulator, account)

    def _count(self, simulator: Simulator, account: int) -> float:
        record = simulator.outcome.accounts[account]
        return record.computed_tokens + record.generated_tokens + self._lifts.get(account, 0.0)


def arrival(simulator: Simulator, context: ContextView) -> float:
    """When the turn was asked for: vLLM's order."""
    return simulator.threads[context.context].turn_started_seconds


def feedback_level(simulator: Simulator, context: ContextView) -> float:
    """Queues of doubling quanta; a long prompt skips the first ones (FastServe)."""
    thread = simulator.threads[context.context]
    prompt = 0 if thread.turn is None else thread.turn.prompt_tokens
    served = (
        thread.generated + prompt * simulator.setup.device.seconds_per_token / simulator.setup.device.seconds_per_batch
    )
    return math.floor(math.log2(served / FIRST_QUANTUM_TOKENS + 1))


def remaining(simulator: Simulator, context: ContextView) -> float:
    """The steps that are truly left of the turn: shortest remaining time first, as an oracle."""
    thread = simulator.threads[context.context]
    return math.inf if thread.turn is None else thread.turn.reply_tokens - thread.generated


def least_recent(simulator: Simulator, context: ContextView) -> float:
    """Pages go in the order in which they were last used, as in a prefix cache; who works is served as it came."""
    return context.idle_ticks if not context.has_work else simulator.threads[context.context].turn_started_seconds


def longest_wait(simulator: Simulator, context: ContextView) -> float:
    """Who has waited longest comes first."""
    return -context.waiting_ticks


def rivals() -> dict[str, Rival]:
    return {
        "vLLM": Rival("vLLM", arrival),
        "VTC": Rival("VTC", FairTokens()),
        "VTC preempting": Rival("VTC preempting", FairTokens(), preempts=True),
        "MLFQ": Rival("MLFQ", feedback_level, preempts=True),
        "SRPT oracle": Rival("SRPT oracle", remaining),
        "LRU": Rival("LRU", least_recent),
        "longest wait": Rival("longest wait", longest_wait),
    }
