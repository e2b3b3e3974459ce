"""The tick loop: plan, run, commit."""

import asyncio
import time
from collections.abc import Callable
from itertools import compress

import msgspec

from pie_mlx.engine.market.accounting import Accounting
from pie_mlx.engine.model.runner.batch import Batch, BatchEntry, Outcome, StopCondition
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.paging.page_io import PageIO
from pie_mlx.engine.policies import Limits, Plan, Policy
from pie_mlx.engine.scheduler.device_turns import DeviceTurns
from pie_mlx.engine.scheduler.forward_task import BatchContinuation, ForwardTask
from pie_mlx.engine.scheduler.reports import TickReports
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.scheduler.retaining import end_unpaid, retained_contexts
from pie_mlx.engine.scheduler.sharing import DeviceSharing
from pie_mlx.engine.scheduler.tick_batch import (
    Chunks,
    Claims,
    chunk_entry,
    fail_all,
    further_steps,
    reserve_further,
    take_result,
)
from pie_mlx.engine.scheduler.tick_planner import NOTHING, TickPlanner
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.engine.scheduler.tick_view import is_contended, settlement_holdings
from pie_mlx.engine.speculation.drafting import Tick
from pie_mlx.errors import BatchFailedError
from pie_mlx.events import Event, TickCompleted

RETRY_SECONDS = 1e-3
"""Pause before planning again when pages that a plan counted on were not there."""

NEWEST_TICK_WEIGHT = 0.02
"""The weight of the newest tick in how long one takes."""


class Scheduler:
    """Serves what waits in a TickState, one batch after the other."""

    def __init__(
        self,
        state: TickState,
        runner: Runner,
        accounting: Accounting,
        policy: Policy,
        limits: Limits,
        emit: Callable[[Event], None],
        page_io: PageIO,
        restorer: Restorer,
        reports: TickReports,
        *,
        runs_ahead: bool,
        patience_seconds: float,
        turns: DeviceTurns | None = None,
    ) -> None:
        """`turns` give it the device where other models want it too."""
        self._state, self._runner, self._accounting = state, runner, accounting
        self._emit, self._page_io, self._restorer, self._reports = emit, page_io, restorer, reports
        self._claims = Claims(state, runner, enabled=runs_ahead)
        self._sharing = DeviceSharing(state)
        self.planner = TickPlanner(
            state,
            runner,
            accounting,
            policy,
            limits,
            page_io,
            self._sharing,
            reports,
            patience_seconds=patience_seconds,
        )
        self._committed, self._turns = time.monotonic(), turns

    async def tick_forever(self, fail: Callable[[BaseException], None]) -> None:
        """Until it is cancelled. A fault of the engine ends it; `fail` gets the error, which is raised."""
        try:
            while True:
                # Calls that have arrived reach the queue before a decision is made (Q9): a call needs two turns of the
                # loop, one to become an asyncio task, one for that task to get here.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                if self._turns is not None and self._state.working():
                    await self._take_turn(self._turns)
                self._state.changed.clear()
                plan = self.planner.plan()
                moved = plan is not NOTHING and self._move_pages(plan)
                if plan.chunks:
                    await self._tick(plan)
                elif self._page_io.is_awaited:
                    await self._page_io.carry_out()
                elif not moved:
                    await self._wait_for_change()
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # what native code panics with is no Exception
            fail(error)
            raise

    async def _take_turn(self, turns: DeviceTurns) -> None:
        """Until the device is to compute this model; that others had it is no wait for what is missing (Q9)."""
        if await turns.take(self, sum(self._state.contexts[number].bid for number in self._state.working())):
            self._committed = time.monotonic()
            self.planner.device_was_busy(self._committed)

    async def _wait_for_change(self) -> None:
        if self._turns is not None:
            self._turns.give(self)
        try:
            async with asyncio.timeout(self.planner.wait_seconds or None):
                await self._state.changed.wait()
        except TimeoutError:
            pass

    # Pages.

    def _move_pages(self, plan: Plan) -> bool:
        """Carry out suspensions, withhold pages, restore and grant, in this order; whether that changed anything."""
        contexts = self._state.contexts
        for suspension in plan.suspensions:
            self._restorer.suspend(contexts[suspension.context])
            for one in self._state.together(contexts[suspension.context]):
                self._reports.suspended(msgspec.structs.replace(suspension, context=one.id))
        if withheld := self._state.store.withheld.withhold(self._state.pages_to_withhold):
            self._page_io.discard(withheld)
        begun = [self._restorer.begin(contexts[context]) for context in plan.restores]
        for context in plan.grants:
            contexts[context].fresh = True
            self._state.requests.pop(context).grant()
        if not all(begun):
            self.planner.wait_seconds = RETRY_SECONDS
        return bool(plan.suspensions or plan.grants or withheld) or any(begun)

    # Batches.

    async def _tick(self, plan: Plan) -> None:
        """Run the plan's chunks as one batch and give out what they read."""
        chunks = self.chunks(plan)
        entries = self.build(chunks)
        claimed = self._claims.claim(entries)
        if ahead := any(claimed):  # the others wait for the next batch, which will hold everybody
            chunks, entries = list(compress(chunks, claimed)), tuple(compress(entries, claimed))
        self.enter(chunks)
        left = self._sharing.steps_left(len(chunks))
        further, continuation, prefetches = further_steps(self._state, chunks, left), None, False
        if further and reserve_further(self._state.store, chunks, further):
            entries, continuation = self.build(chunks, further), self._continuation(chunks)
            prefetches = any([task.continuation and not task.continuation.asked for task, _ in chunks])
        else:
            further = 0
        entries = self._claims.with_slots(chunks, entries, ends=left < further + 2)
        try:
            copies = await self._page_io.carry_out()
            outcome = await self._runner.run(Batch(entries, copies, continuation, further, ahead, prefetches))
        except BatchFailedError as error:
            self._sharing.charge()
            fail_all([task for task, _ in chunks], error)
            self._after_batch(chunks, error)
            return
        if self._turns is not None and self._turns.is_over:  # the next one plans before programs get these results
            self._turns.give(self)
        self.commit(chunks, outcome, ahead=ahead)
        self._claims.learn(chunks, entries, outcome)

    def chunks(self, plan: Plan) -> Chunks:
        """The passes of a plan, each with how many of its inputs run."""
        chunks: list[tuple[ForwardTask, int]] = []
        for chunk in plan.chunks:
            task = self._state.next_pass(chunk.context)
            if task is not None:
                chunks.append((task, task.remaining if task.followers else chunk.tokens))
                chunks += [(one, one.remaining) for one in task.followers]
        return chunks

    def build(self, chunks: Chunks, further: int = 0) -> tuple[BatchEntry, ...]:
        """The rows of a batch, with slots for `further` steps."""
        return tuple([chunk_entry(self._state.store, task, count, further) for task, count in chunks])

    def _continuation(self, chunks: Chunks) -> StopCondition:
        turn, changed, turns = self._state.turn, self._state.changed, self._turns
        late_seconds = self._state.tick_seconds / 2  # the last step that was to fit into the turn may take longer
        tasks = [task for task, _ in chunks]
        plans = [task.continuation for task in tasks if task.continuation is not None]

        def is_wanted() -> bool:
            over = changed.is_set() if turn is None else time.monotonic() >= turn.until_seconds + late_seconds
            return not over and all(task.continues for task in tasks)

        return BatchContinuation(plans, is_wanted, lambda: turns is not None and turns.is_over)

    def enter(self, chunks: Chunks) -> None:
        """The passes are in the batch until its end. Nothing is planned meanwhile: none of them is suspended (T24)."""
        now = time.monotonic()
        for task, _ in chunks:
            task.in_batch = True
            if not task.cursor:
                task.context.started_seconds = now
                task.context.batch_contexts = len(chunks)
            self._state.forks.discard(task.context.id)
        self.planner.batch_begins([task.context.id for task, _ in chunks if not task.follows])

    def commit(self, chunks: Chunks, outcome: Outcome, *, ahead: bool) -> None:
        """The batch is computed, and what followed it at once: pages, money, replies, events."""
        seconds, steps = outcome.seconds + outcome.further_seconds, outcome.steps
        each = seconds / steps
        before, self._committed = self._committed, time.monotonic()
        self.planner.batch_ends(each, self._committed)
        self._sharing.commit(chunks, seconds, steps)
        self._measure(chunks, outcome, self._committed - before)
        made: dict[int, int] = {}
        model = self._runner.model
        recurrence = model.network.recurrence if model.recurrent else None
        for (task, count), result in zip(chunks, outcome.results, strict=True):
            made[task.context.id] = take_result(self._state.store, recurrence, task, count, result)
            if count > 1 and not task.replay:
                self._reports.progressed(task.context, count)
        self._settle(chunks, made, each)
        self._after_batch(chunks)
        self._end_tick(chunks, seconds, steps, ahead=ahead)

    def _measure(self, chunks: Chunks, outcome: Outcome, passed_seconds: float) -> None:
        """Learn what prompts and drafts cost, from a batch that was over `passed_seconds` after the one before."""
        counts = [count for _, count in chunks]
        self._page_io.observe_prefill(counts, outcome.seconds, self._state.window_cost.plain_seconds)
        drafts = [task.drafts for task, _ in chunks if task.window and task.drafts]
        waited = max([task.window.waited_seconds for task, _ in chunks if task.window is not None], default=0.0)
        step_seconds = max(0.0, passed_seconds - waited) / outcome.steps
        self._state.completed(Tick(len(chunks), sum(counts), len(drafts), sum(drafts), step_seconds))

    def _after_batch(self, chunks: Chunks, error: BatchFailedError | None = None) -> None:
        for task, _ in chunks:
            task.in_batch = False
            if task.replay:
                self._after_replay(task, error)
            else:
                self._after_pass(task, error)

    def _after_replay(self, task: ForwardTask, error: BatchFailedError | None) -> None:
        failure = error or task.failure
        if isinstance(failure, BatchFailedError):
            self._restorer.fail(task, failure)
        else:
            self._restorer.after_chunk(task)

    def _after_pass(self, task: ForwardTask, error: BatchFailedError | None) -> None:
        context = task.context
        if error is None:
            context.fresh = False
            context.waiting_ticks = 0
            context.left_seconds = self._committed
            context.ran_tick = self._state.ticks
            context.stay_rows += 1
        if task.is_unowned:
            task.done.cancel()
        if task.is_over and self._state.passes.get(context.id) is task:
            del self._state.passes[context.id]

    def _settle(self, chunks: Chunks, made: dict[int, int], seconds: float) -> None:
        """Price the pool and charge the contexts that ran; replays cost nothing (M5, M8, R6)."""
        ran = [task.context.id for task, _ in chunks if not task.replay]
        for context in ran:
            self._accounting.sample_latency(context, seconds)
        contended = is_contended(self._state)
        if contended or not self._accounting.is_settled or any(made.values()):
            holdings = settlement_holdings(self._state, ran, contended=contended)
            payers = [*ran, *retained_contexts(self._state)] if contended else ran
            settlement = self._accounting.settle(holdings, payers, made)
            if contended:
                end_unpaid(self._state, settlement)
            self._reports.settled(self._state.ticks, settlement)

    def _end_tick(self, chunks: Chunks, seconds: float, steps: int, *, ahead: bool) -> None:
        state = self._state
        state.tick_seconds += (NEWEST_TICK_WEIGHT if state.tick_seconds else 1.0) * (
            seconds / steps - state.tick_seconds
        )
        waiting = state.working().difference([task.context.id for task, _ in chunks if not task.replay])
        for context in waiting:
            state.contexts[context].waiting_ticks += context in state.requests or state.has_turn(context)
        following, added = (steps - 1) * len(chunks), [task.added_tokens(count) for task, count in chunks]
        self._emit(
            TickCompleted(
                tick=state.ticks,
                contexts=len(chunks),
                tokens=sum([count for _, count in chunks]) + following,
                waiting=len(waiting),
                duration_seconds=seconds,
                ahead=ahead,
                steps=steps,
                used_pages=state.store.used_pages,
                dropped=self._claims.dropped,
                at_seconds=self._committed,
                decoded_tokens=sum([decoded for decoded, _ in added]) + following,
                prompt_tokens=sum([prompt for _, prompt in added]),
            )
        )
