"""Time the engine spends on a tick without the model: `python -m benchmarks.tick`.

Contexts decode one token each tick on a device that answers at once. The pool is either roomy or so small that some
contexts always wait for pages. Columns are milliseconds per tick: the planner's view, the plan with its auction, the
rows of the batch, and the commit of the results with settlement and events; targets are for a roomy pool.
"""

import argparse
import asyncio
import gc
import time
from collections.abc import Iterator, Sequence
from statistics import median

from pie_mlx.calls import SampledTokens, Sampler
from pie_mlx.engine.kv import PageStore, WorkingToken
from pie_mlx.engine.market.accounting import Accounting
from pie_mlx.engine.model.loading.load import null_model
from pie_mlx.engine.model.parts import in_one
from pie_mlx.engine.model.runner.batch import EntryResult, LogitsRequest, Outcome
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.paging.page_io import PageIO
from pie_mlx.engine.policies import POLICIES, Limits, Plan, View, policy
from pie_mlx.engine.scheduler.forward_task import ForwardTask
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.scheduler.reports import TickReports
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.scheduler.scheduler import Scheduler
from pie_mlx.engine.scheduler.tick_state import PageRequest, TickState
from pie_mlx.events import Event

PAGE_SIZE = 16
PROMPT_TOKENS = 256
SHARED_TOKENS = 64
TARGETS_MILLISECONDS = {1: 0.15, 32: 1.0, 256: 5.0}
COLUMNS = ("view", "plan", "batch", "commit")
SMOKE = ("--ticks", "2", "--contexts", "1", "8")
GREEDY = Sampler()
CLOCK = time.thread_time
"""Processor time, so that other programs on the machine do not count."""


class TimedPolicy:
    """A policy that tells how long its last plan took."""

    def __init__(self, name: str) -> None:
        self._inner = policy(name)
        self.name, self.sells_pages = name, self._inner.sells_pages
        self.seconds = 0.0

    def plan(self, view: View) -> Plan:
        started = CLOCK()
        plan = self._inner.plan(view)
        self.seconds = CLOCK() - started
        return plan


class Bench:
    """An engine's loop with `contexts` contexts in a pool, and no device."""

    def __init__(self, runner: Runner, contexts: int, policy_name: str, *, waiting: int) -> None:
        self.events = 0
        context_pages = (PROMPT_TOKENS + 512) // PAGE_SIZE + 1
        self.store = PageStore(pages=contexts * context_pages, page_size=PAGE_SIZE, identity=b"null")
        self.accounting = Accounting(PAGE_SIZE, self.store.pool.capacity, 64, None, policy_name == "market")
        self.state = TickState(self.store)
        self.policy = TimedPolicy(policy_name)
        reports = TickReports(self._emit)
        page_io = PageIO(self.store, runner, None, self._emit)
        restorer = Restorer(self.state, page_io, reports, runner.model.network)
        limits = Limits(max_batch_tokens=4096, max_batch_contexts=contexts)
        self.loop = Scheduler(
            self.state,
            runner,
            self.accounting,
            self.policy,
            limits,
            self._emit,
            page_io,
            restorer,
            reports,
            runs_ahead=False,
            patience_seconds=60.0,
        )
        for number in range(contexts):
            self._add(number, context_pages)
        self._let_wait(waiting)

    def _emit(self, event: Event) -> None:
        self.events += 1

    def _add(self, number: int, pages: int) -> None:
        """A context with a prompt, of which the first pages are those of everybody."""
        context = self.store.create()
        shared = [WorkingToken(token, token) for token in range(SHARED_TOKENS)]
        own = [WorkingToken(1000 + number, slot) for slot in range(SHARED_TOKENS, PROMPT_TOKENS)]
        self.store.working.reserve(context, pages)
        self.store.working.append(context, [*shared, *own])
        self.store.working.commit_full(context)
        self.accounting.open_account(number, None)
        self.state.contexts[context] = LiveContext(context, number, 0, bid=number % 7)

    def _let_wait(self, waiting: int) -> None:
        """The last contexts ask for more than there is while they are full members of the batch."""
        for live in list(self.state.contexts.values())[len(self.state.contexts) - waiting :]:
            pages = self.store.pool.available() + 1
            future = asyncio.get_running_loop().create_future()
            self.state.requests[live.id] = PageRequest(live, pages, lambda: None, next(self.state.arrivals), future)

    def _next_step(self) -> None:
        """Every program asks for its next token."""
        for context, live in self.state.contexts.items():
            if context in self.state.passes or context in self.state.requests:
                continue
            position = self.store.sequence_length(context)
            done = asyncio.get_running_loop().create_future()
            inputs, reads = [WorkingToken(7, position)], [LogitsRequest(0, GREEDY)]
            self.state.passes[context] = ForwardTask(live, inputs, reads, next(self.state.arrivals), done, commits=True)

    def tick(self) -> tuple[float, ...]:
        """Seconds of view, plan, batch and commit."""
        self._next_step()
        times = [CLOCK()]
        plan = self.loop.planner.plan()
        times.append(CLOCK())
        chunks = self.loop.chunks(plan)
        entries = self.loop.build(chunks)
        self.loop.enter(chunks)
        times.append(CLOCK())
        results: list[EntryResult] = [[SampledTokens([7])] for _ in entries]
        committing = CLOCK()
        self.loop.commit(chunks, Outcome(results, 0.0), ahead=False)
        done = CLOCK()
        view = times[1] - times[0] - self.policy.seconds
        return view, self.policy.seconds, times[2] - times[1], done - committing


def rows(runner: Runner, options: argparse.Namespace, *, waiting: bool) -> Iterator[str]:
    ticks = options.ticks
    for name in options.policies:
        for contexts in options.contexts:
            bench = Bench(runner, contexts, name, waiting=contexts // 8 if waiting else 0)
            samples = [bench.tick() for _ in range(ticks)][ticks // 10 :]
            parts = [1000 * sum(column) / len(samples) for column in zip(*samples, strict=True)]
            total, middle = sum(parts), 1000 * median(map(sum, samples))
            target = None if waiting else TARGETS_MILLISECONDS.get(contexts)
            verdict = "" if target is None else f"< {target}: {'yes' if total < target else 'NO'}"
            figures = "".join(f"{part:9.3f}" for part in (*parts, total, middle))
            yield f"{name:9}{contexts:6}{figures}  {verdict}"


async def measure(options: argparse.Namespace) -> None:
    runner = Runner()
    await runner.load(in_one(null_model))  # of which the loop asks only what kind it is
    for waiting in (False, True):
        print("an eighth of the contexts wait for pages" if waiting else "a roomy pool")
        print(f"{'policy':9}{'n':>6}" + "".join(f"{name:>9}" for name in (*COLUMNS, "mean", "median")) + "  target")
        for row in rows(runner, options, waiting=waiting):
            print(row)
    runner.close()


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ticks", type=int, default=200)
    parser.add_argument("--contexts", type=int, nargs="+", default=[1, 32, 256, 1024])
    parser.add_argument("--policies", nargs="+", choices=POLICIES, default=["fcfs", "market"])
    options = parser.parse_args(words)
    gc.collect()  # as 'pie serve' does, so that what was imported is not walked in a tick
    gc.freeze()
    asyncio.run(measure(options))


if __name__ == "__main__":
    main()
