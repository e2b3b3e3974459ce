"""What waits for the next tick."""

import asyncio
import itertools
from dataclasses import dataclass, field

from pie_mlx.engine.drafting import Tick, WindowCost
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.live_context import LiveContext
from pie_mlx.engine.model.batch import Work
from pie_mlx.engine.page_request import PageRequest
from pie_mlx.engine.passes import Pass
from pie_mlx.engine.restoration import Restoration


@dataclass(slots=True)
class TickState:
    """Live contexts, and at most one pass, one restore under way and one page request for each of them.

    `foreseen` is what streams are expected to run next. `changed` wakes the loop. `window_cost` is what drafts take.
    """

    store: PageStore
    contexts: dict[int, LiveContext] = field(default_factory=dict[int, LiveContext])
    passes: dict[int, Pass] = field(default_factory=dict[int, Pass])
    restorations: dict[int, Restoration] = field(default_factory=dict[int, Restoration])
    requests: dict[int, PageRequest] = field(default_factory=dict[int, PageRequest])
    foreseen: dict[int, Work] = field(default_factory=dict[int, Work])
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    ticks: int = 0
    batch_contexts: int = 0
    window_cost: WindowCost = field(default_factory=WindowCost)
    arrivals: "itertools.count[int]" = field(default_factory=itertools.count)

    def has_work(self, context: int) -> bool:
        """Whether a pass, a restore or a page request of the context is outstanding (Q1)."""
        return context in self.passes or context in self.requests or context in self.restorations

    def working(self) -> set[int]:
        """Every context that has work."""
        return self.passes.keys() | self.requests.keys() | self.restorations.keys()

    def next_pass(self, context: int) -> Pass | None:
        """What the context would run now: what it lost first."""
        restoration = self.restorations.get(context)
        replay = None if restoration is None else restoration.next_replay
        return replay or self.passes.get(context)

    def completed(self, tick: Tick) -> None:
        """A batch is computed. Seconds since the one before it tell what it took if that was of as many contexts: then
        they are those of streams which go on."""
        if tick.contexts == self.batch_contexts:
            self.window_cost.observe(tick)
        self.batch_contexts = tick.contexts
        self.ticks += 1

    def forget(self, context: int) -> None:
        """The context is released."""
        for table in (self.contexts, self.passes, self.restorations, self.requests, self.foreseen):
            table.pop(context, None)
