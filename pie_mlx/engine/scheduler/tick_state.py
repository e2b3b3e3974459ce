"""What waits for the next tick."""

import asyncio
import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pie_mlx.engine.kv import PageStore, Restore
from pie_mlx.engine.scheduler.forward_task import ForwardTask
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.speculation.drafting import Tick, WindowCost
from pie_mlx.errors import PieError
from pie_mlx.events import ContextRestoring

ATOMIC_TOKENS = 32
"""Passes up to this long (decode steps, verification windows) run whole: splitting them would only delay them."""


@dataclass(frozen=True, slots=True)
class MemoryTerms:
    """The limits while the system is short of memory: `withheld_pages` of the pool stay unused, and a batch takes at
    most `step_bytes` while it is computed (None: any number)."""

    withheld_pages: int = 0
    step_bytes: int | None = None


@dataclass(slots=True, eq=False)
class PageRequest:
    """A call that waits until `context` is in the pool and `pages` more are available.

    `action` takes them at the moment they are granted, and makes the result.
    """

    context: LiveContext
    pages: int
    action: Callable[[], Any]
    arrival: int
    done: "asyncio.Future[Any]"

    def grant(self) -> None:
        """Run the action. A PieError it raises goes to the caller."""
        if self.done.done():
            return
        try:
            self.done.set_result(self.action())
        except PieError as error:
            self.done.set_exception(error)

    def fail(self, error: PieError) -> None:
        if not self.done.done():
            self.done.set_exception(error)


@dataclass(slots=True, eq=False)
class Restoration:
    """The `work` that brings a context back, and the `replays` that still have to compute what was lost. `moved` if its
    pages had left the pool. While it `loads` pages from the disk cache, none of its passes runs."""

    context: LiveContext
    work: Restore
    replays: list[ForwardTask]
    moved: bool = True
    loads: bool = False

    @property
    def report(self) -> ContextRestoring | None:
        """The event of a restore that reads or computes something again; None for one that does not."""
        work = self.work
        if not self.moved or not (work.reads or work.stored or work.fills):
            return None
        return ContextRestoring(self.context.id, len(work.reads) + len(work.stored), work.replayed_tokens)

    @property
    def next_replay(self) -> ForwardTask | None:
        return self.replays[0] if self.replays else None

    @property
    def reached(self) -> int:
        """How many of the first tokens have their content, once some were computed again; 0 before."""
        item = self.next_replay
        has_begun = item is not None and (item.cursor or len(self.replays) < len(self.work.fills))
        return item.first_slot + item.cursor if item is not None and has_begun else 0


@dataclass(frozen=True, slots=True)
class Turn:
    """Passes of one user alone run, until about `until_seconds` (monotonic). If it has none, the device waits for the
    next one until `awaited_until_seconds`."""

    user: str
    until_seconds: float
    awaited_until_seconds: float


@dataclass(slots=True)
class TickState:
    """Live contexts, and at most one pass, one restore under way and one page request for each of them.

    `memory` has the limits of memory: `most_withheld` is lower than what they ask for once nothing moved for want of
    pages, and while not even a short piece of a prompt fits them, it `holds_prompts`. `changed` wakes the loop.
    `window_cost` is what verifying drafts takes. `forks` were forked and have not run since; at `forked_seconds`
    (monotonic) the latest of them was made, or asked for its first pass. `tick_seconds` is what a tick takes lately.
    `turn` is whose turn it is, None while no passes are held back for those of other users. `loop_seconds` is how long
    the engine's loop has worked for each user since the last batch, while users take turns. `gangs` has the contexts of
    each gang by the number of any of them, the one that draws first.
    """

    store: PageStore
    contexts: dict[int, LiveContext] = field(default_factory=dict[int, LiveContext])
    forks: set[int] = field(default_factory=set[int])
    forked_seconds: float = 0.0
    passes: dict[int, ForwardTask] = field(default_factory=dict[int, ForwardTask])
    restorations: dict[int, Restoration] = field(default_factory=dict[int, Restoration])
    requests: dict[int, PageRequest] = field(default_factory=dict[int, PageRequest])
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    memory: MemoryTerms = MemoryTerms()
    holds_prompts: bool = False
    most_withheld: int | None = None
    ticks: int = 0
    tick_seconds: float = 0.0
    batch_contexts: int = 0
    window_cost: WindowCost = field(default_factory=WindowCost)
    turn: Turn | None = None
    loop_seconds: dict[str, float] = field(default_factory=dict[str, float])
    gangs: dict[int, tuple[LiveContext, ...]] = field(default_factory=dict[int, tuple[LiveContext, ...]])
    arrivals: "itertools.count[int]" = field(default_factory=itertools.count)

    def has_work(self, context: int) -> bool:
        """Whether a pass, a restore or a page request of the context, or of its gang, is outstanding (Q1)."""
        if context in self.gangs and self.gangs[context][0].id in self.passes.keys() | self.requests.keys():
            return True
        return context in self.passes or context in self.requests or context in self.restorations

    def together(self, context: LiveContext) -> Sequence[LiveContext]:
        """The contexts of its gang, or it alone."""
        return self.gangs.get(context.id) or (context,)

    def is_usable(self, context: int) -> bool:
        """Whether it and all of its gang are in the pool, with their content."""
        return all(self.store.contexts[one.id].usable for one in self.together(self.contexts[context]))

    def working(self) -> set[int]:
        """Every context that has work."""
        return self.passes.keys() | self.requests.keys() | self.restorations.keys()

    def has_turn(self, context: int) -> bool:
        """Whether passes of the context may run now, as far as its user goes."""
        return self.turn is None or self.contexts[context].user == self.turn.user

    def is_held(self, task: ForwardTask) -> bool:
        """Whether a prompt is not begun because its peak does not fit the system's memory."""
        return self.holds_prompts and not task.replay and not task.cursor and task.remaining > ATOMIC_TOKENS

    @property
    def pages_to_withhold(self) -> int:
        """Pages that are still to be withheld."""
        wanted, most = self.memory.withheld_pages, self.most_withheld
        if not wanted:
            return 0
        return max(0, (wanted if most is None else min(wanted, most)) - self.store.withheld.count)

    def relax(self) -> bool:
        """Nothing moves, perhaps for want of withheld pages: give half of them back. Returns whether there were any."""
        count = self.store.withheld.count
        if count:
            self.most_withheld = count // 2
            self.store.withheld.give_back(count - count // 2)
            self.changed.set()
        return count > 0

    def set_memory_terms(self, terms: MemoryTerms) -> None:
        """From now on; what is withheld beyond them comes back."""
        self.memory = terms
        if not terms.withheld_pages:
            self.most_withheld = None
        surplus = self.store.withheld.count - terms.withheld_pages
        if surplus > 0:
            self.store.withheld.give_back(surplus)
        self.changed.set()

    @property
    def loads(self) -> bool:
        """Whether any restore waits for the disk cache, so that something will move."""
        return any(restoration.loads for restoration in self.restorations.values())

    def next_pass(self, context: int) -> ForwardTask | None:
        """What the context would run now: first the replay of what it lost."""
        restoration = self.restorations.get(context)
        replay = None if restoration is None else restoration.next_replay
        return replay or self.passes.get(context)

    def completed(self, tick: Tick) -> None:
        """A batch is computed. If the one before it had as many contexts, the same streams went on, and the seconds
        between the two are what a batch takes."""
        if tick.contexts == self.batch_contexts:
            self.window_cost.observe(tick)
        self.batch_contexts = tick.contexts
        self.ticks += 1

    def contexts_beside(self, user: str) -> int:
        """How many contexts the next batch with some of a user will most likely have: in turns, that user's alone."""
        if self.turn is None:
            return self.batch_contexts
        return max(1, sum([self.contexts[number].user == user for number in self.passes]))

    def count_loop_time(self, user: str, seconds: float) -> None:
        """The engine's loop has worked for a user; not counted while all users share each batch."""
        if self.turn is not None:
            self.loop_seconds[user] = self.loop_seconds.get(user, 0.0) + seconds

    def note_fork(self, context: int) -> None:
        """The context was forked, or asks for its first pass since."""
        self.forks.add(context)
        self.forked_seconds = time.monotonic()

    def forget(self, context: int) -> None:
        """The context is released."""
        self.forks.discard(context)
        for table in (self.contexts, self.passes, self.restorations, self.requests):
            table.pop(context, None)
