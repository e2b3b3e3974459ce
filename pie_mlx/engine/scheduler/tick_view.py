"""The planner's picture of the engine at the start of a tick, and how much of it fits the memory."""

import time
from collections.abc import Callable, Iterable, Sequence

from msgspec.structs import replace

from pie_mlx.engine.kv import Holdings, share_out
from pie_mlx.engine.market.accounting import Accounting
from pie_mlx.engine.market.settlement import Holding
from pie_mlx.engine.model.memory import BatchSize, Transients
from pie_mlx.engine.policies import (
    Chunk,
    ContextView,
    Limits,
    Plan,
    Reason,
    ReasonKind,
    RequestView,
    SharedRun,
    View,
    Wait,
)
from pie_mlx.engine.policies.planner import all_fit
from pie_mlx.engine.policies.turnover import GROWTH_TICKS
from pie_mlx.engine.scheduler.forward_task import ForwardTask
from pie_mlx.engine.scheduler.gangs import gang_contexts, gang_passes, gang_requests
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.scheduler.retaining import bid_of
from pie_mlx.engine.scheduler.tick_state import ATOMIC_TOKENS, TickState

HOLD_SECONDS = 10.0
"""How long prompts wait for memory while nothing else runs whose end would free some. Then they run in small pieces."""


def tick_view(
    state: TickState,
    accounting: Accounting,
    select: Callable[[Sequence[Chunk]], tuple[Sequence[Chunk], Limits]],
    *,
    stalled: bool = False,
) -> View:
    """All that the policy may know; `select` tells which of all passes may run now, and the limits of a batch of them.

    Which context holds which pages is worked out only if requests, pages to withhold and expected growth exceed the
    available pages: otherwise no context is suspended.
    """
    available = state.store.pool.available()
    asked, ready = _request_views(state), _pass_views(state)
    if state.gangs:
        asked, ready = gang_requests(state, asked), gang_passes(state, ready)
    requests = tuple(asked)
    passes, limits = select(tuple(ready))
    withhold = state.pages_to_withhold
    growth = _growth_pages(state) if requests else {}
    short = sum(request.pages for request in requests) + withhold + sum(growth.values()) > available
    held = state.store.holdings() if short else Holdings()
    contexts = state.contexts.values() if short else _ranked(state, requests, passes, limits)
    views = tuple([_context_view(state, accounting, live, held, growth) for live in contexts])
    return View(
        tick=state.ticks,
        capacity_pages=state.store.pool.capacity,
        available_pages=available,
        contexts=gang_contexts(state, views) if state.gangs else views,
        passes=tuple(passes),
        requests=requests,
        shared_runs=tuple([SharedRun(run.run, run.pages, run.holders) for run in held.runs]),
        limits=limits,
        stalled=stalled,
        withhold_pages=withhold,
    )


def _ranked(
    state: TickState, requests: Sequence[RequestView], passes: Sequence[Chunk], limits: Limits
) -> Iterable[LiveContext]:
    """The contexts that compete for pages or rows; none while there is room for all."""
    if not requests and all_fit(passes, limits):
        return ()
    return map(state.contexts.__getitem__, state.working())


def _request_views(state: TickState) -> Iterable[RequestView]:
    """Page requests, and passes whose context was suspended before all of them had run (M6)."""
    store = state.store
    for request in state.requests.values():
        if not store.contexts[request.context.id].restoring:
            yield RequestView(request.context.id, store.suspender.restore_need(request.context.id) + request.pages)
    for context in store.contexts.off_pool(state.passes):
        yield RequestView(context, store.suspender.restore_need(context))


def _pass_views(state: TickState) -> Iterable[Chunk]:
    """What could run now: replays, and passes of contexts that are whole."""
    for restoration in state.restorations.values():
        if restoration.next_replay is not None:
            yield _pass_view(restoration.next_replay)
    for task in state.passes.values():
        if state.store.contexts[task.context.id].usable and not state.is_held(task):
            yield _pass_view(task)


def _pass_view(task: ForwardTask) -> Chunk:
    remaining = task.remaining
    return Chunk(task.context.id, remaining, remaining <= ATOMIC_TOKENS)


def _context_view(
    state: TickState, accounting: Accounting, live: LiveContext, held: Holdings, growth: dict[int, int]
) -> ContextView:
    number = live.id
    waiting = (
        state.requests.get(number),
        state.passes.get(number),
        state.next_pass(number),
    )  # a replay has the latest arrival
    outstanding = [one.arrival for one in waiting if one is not None]
    has_work = bool(outstanding) or number in state.restorations
    bid, hint = (live.bid, "") if live.retention is None else bid_of(state, live)
    return ContextView(
        number,
        live.account,
        state.store.contexts[number].resident,
        bid,
        live.waiting_ticks,
        arrival=min(outstanding) if outstanding else 0,
        pages=held.effective.get(number, 0.0),
        private_pages=held.private_pages.get(number, 0),
        shared_runs=held.runs_of.get(number, ()),
        fresh=live.fresh and has_work,
        defaulted=accounting.is_defaulted(live.account),
        has_work=has_work,
        growth_pages=growth.get(number, 0),
        idle_ticks=0 if has_work else state.ticks - live.ran_tick,
        stay_rows=live.stay_rows,
        user=live.user,
        hint=hint,
    )


def _growth_pages(state: TickState) -> dict[int, int]:
    """The pages that contexts with work will soon ask for: they grow by a token a tick, as long as they expect to."""
    return {number: _steps(state.contexts[number]) // state.store.page_size for number in state.working()}


def _steps(live: LiveContext) -> int:
    return GROWTH_TICKS if live.expected is None else int(min(live.expected.remaining_tokens, GROWTH_TICKS))


def is_contended(state: TickState) -> bool:
    """Whether any context waits for pages. While none does, all demands fit and the price is 0 (M7)."""
    return bool(state.requests or state.store.contexts.off_pool(state.passes))


def settlement_holdings(state: TickState, ran: Iterable[int], *, contended: bool) -> list[Holding]:
    """The demands that the settlement of a tick needs (M6): every live context's, or none without contention.

    Then the contexts that ran appear without pages, as they owe no rent.
    """
    if not contended:
        found = (state.contexts.get(context) for context in ran)
        return [Holding(live.id, live.account, live.bid, 0.0) for live in found if live is not None]
    effective = share_out(state.store.contexts).effective
    return [
        Holding(
            live.id, live.account, bid_of(state, live)[0], effective.get(live.id, 0.0), _lacking_pages(state, live.id)
        )
        for live in state.contexts.values()
    ]


def _lacking_pages(state: TickState, context: int) -> int:
    request = state.requests.get(context)
    returning = state.store.suspender.restore_need(context) if state.has_work(context) else 0
    return returning + (request.pages if request else 0)


class PromptGate:
    """Bounds batches while the system is short of memory. For the tick loop only."""

    def __init__(self, state: TickState) -> None:
        self._state = state
        self._since: float | None = None

    def limits(self, usual: Limits, transients: Transients) -> Limits:
        """The limits of a batch that the memory allows; where it allows none, `holds_prompts` is set."""
        state, allowed = self._state, self._state.memory.step_bytes
        if allowed is None:
            state.holds_prompts, self._since = False, None
            return usual
        reads = sum(len({read.index for read in task.reads}) for task in state.passes.values())
        fewest = min(ATOMIC_TOKENS, usual.max_batch_tokens)
        rows = transients.fitting_rows(allowed, BatchSize(usual.max_batch_tokens, reads), fewest)
        state.holds_prompts = not rows and not self._is_over(time.monotonic())
        return replace(usual, max_batch_tokens=rows or fewest)

    def waits(self, plan: Plan) -> Plan:
        """The plan with the prompts that wait for memory."""
        if not self._state.holds_prompts:
            self._since = None
            return plan
        held = [task.context for task in self._state.passes.values() if self._state.is_held(task)]
        if not held or plan.chunks:
            self._since = None
        elif self._since is None:
            self._since = time.monotonic()
        waits = (Wait(live.id, Reason(ReasonKind.MEMORY, live.bid, waited_ticks=live.waiting_ticks)) for live in held)
        return replace(plan, waits=(*plan.waits, *waits))

    @property
    def seconds_left(self) -> float:
        """After how long to plan again, 0 for never."""
        return 0.0 if self._since is None else max(1e-3, self._since + HOLD_SECONDS - time.monotonic())

    def _is_over(self, now: float) -> bool:
        return self._since is not None and now >= self._since + HOLD_SECONDS
