"""The planner's view of a simulated engine."""

from collections.abc import Iterable, Mapping

from pie_mlx.engine.market import Account
from pie_mlx.engine.policies.planner import paced
from pie_mlx.engine.policies.simulation.pages import Run, SimulatedPool
from pie_mlx.engine.policies.simulation.thread import Thread
from pie_mlx.engine.policies.turnover import GROWTH_TICKS
from pie_mlx.engine.policies.view import Chunk, ContextView, Limits, RequestView, SharedRun, View


def picture(
    threads: Iterable[Thread],
    pool: SimulatedPool,
    accounts: Mapping[int, Account],
    limits: Limits,
    prefill_tokens_per_second: float | None,
    tick: int,
    stalled: bool,
) -> View:
    """What the engine would show its planner before tick `tick`."""
    threads = tuple(threads)
    passes = tuple(_pass(thread) for thread in threads if _is_runnable(thread))
    runs = {run.run: run for thread in threads for run in thread.chain.runs if run.residents}
    return View(
        tick,
        pool.capacity_pages,
        pool.available_pages,
        tuple(_context(thread, pool, accounts[thread.account].defaulted, tick) for thread in threads),
        passes,
        tuple(_request(thread, pool) for thread in threads if _is_waiting(thread)),
        tuple(_shared(run) for run in runs.values()),
        paced(limits, passes, prefill_tokens_per_second),
        stalled,
    )


def _context(thread: Thread, pool: SimulatedPool, defaulted: bool, tick: int) -> ContextView:
    chain = thread.chain
    return ContextView(
        thread.context,
        thread.account,
        chain.resident,
        thread.bid,
        thread.waiting_ticks,
        thread.arrival,
        pool.effective_pages(chain),
        chain.own_pages if chain.resident else 0,
        tuple(run.run for run in chain.runs if run.residents),
        fresh=thread.fresh,
        defaulted=defaulted,
        has_work=thread.has_work,
        growth_pages=_growth_pages(thread, pool),
        stay_rows=thread.stay_rows,
        idle_ticks=0 if thread.has_work else tick - thread.ran_tick,
        hint=thread.hint,
    )


def _growth_pages(thread: Thread, pool: SimulatedPool) -> int:
    """A step a tick, as long as the program allows."""
    turn = thread.turn
    if turn is None or not thread.has_work:
        return 0
    steps = min(max(turn.max_tokens - thread.generated, 0), GROWTH_TICKS)
    coming = thread.attached_tokens + thread.pass_tokens
    return pool.lacking_pages(thread.chain, coming + int(steps)) - pool.lacking_pages(thread.chain, coming)


def _shared(run: Run) -> SharedRun:
    return SharedRun(run.run, run.pages, run.residents)


def _is_runnable(thread: Thread) -> bool:
    return thread.has_work and thread.chain.resident and not thread.lacking_pages


def _is_waiting(thread: Thread) -> bool:
    return thread.has_work and (not thread.chain.resident or thread.lacking_pages > 0)


def _pass(thread: Thread) -> Chunk:
    if thread.replay_tokens:
        return Chunk(thread.context, thread.replay_tokens)
    return Chunk(thread.context, thread.pass_tokens, thread.atomic)


def _request(thread: Thread, pool: SimulatedPool) -> RequestView:
    if thread.chain.resident:
        return RequestView(thread.context, thread.lacking_pages, thread.pass_tokens, thread.atomic)
    return RequestView(thread.context, pool.return_pages(thread.chain) + thread.lacking_pages)
