"""The tick loop: plan, run, commit."""

import asyncio
import time
from collections.abc import Callable, Sequence
from itertools import compress

import msgspec

from pie_mlx.engine.market.accounting import Accounting
from pie_mlx.engine.model.runner.batch import Batch, BatchEntry, Outcome, StopCondition
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.paging.page_io import PageIO
from pie_mlx.engine.policies import Chunk, Limits, Plan, Policy, View
from pie_mlx.engine.policies.planner import FiringState, WaitSeconds, is_stalled, when_to_fire
from pie_mlx.engine.scheduler.device_turns import DeviceTurns
from pie_mlx.engine.scheduler.forward_task import MOST_STEPS, BatchContinuation, ForwardTask
from pie_mlx.engine.scheduler.oom import patience, refuse_last
from pie_mlx.engine.scheduler.reports import TickReports
from pie_mlx.engine.scheduler.restoring import Restorer
from pie_mlx.engine.scheduler.retaining import end_unpaid, retained_contexts
from pie_mlx.engine.scheduler.sharing import DeviceSharing
from pie_mlx.engine.scheduler.tick_batch import Chunks, Claims, chunk_entry, fail_all, reserve_further, take_result
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.engine.scheduler.tick_view import PromptGate, is_contended, settlement_holdings, tick_view
from pie_mlx.engine.speculation.drafting import Tick
from pie_mlx.errors import BatchFailedError
from pie_mlx.events import Event, TickCompleted

NOTHING = Plan()
RETRY_SECONDS = 1e-3
"""Pause before planning again when pages that a plan counted on were not there."""

NEWEST_TICK = 0.02
"""The weight of the newest tick in how long one takes."""

REFUSED_SECONDS = 0.25
"""Time for a program that was refused pages to release some, before the next one is refused."""

FORKS_SECONDS = 2e-3
"""How long the first passes of forks wait for one more fork, and no longer than half a batch takes."""


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
        self._policy, self._limits, self._emit, self._patience_seconds = policy, limits, emit, patience_seconds
        self._page_io, self._restorer, self._reports = page_io, restorer, reports
        self._claims = Claims(state, runner, enabled=runs_ahead)
        self._prompt_gate = PromptGate(state)
        self._sharing = DeviceSharing(state)
        self._firing = FiringState()
        self._quiet_since = self._runnable_since = self._committed = time.monotonic()
        self._wait_seconds, self._turns = 0.0, turns

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
                plan = self.plan()
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
            self._runnable_since = self._committed = time.monotonic()

    # Planning.

    def plan(self) -> Plan:
        """This moment's plan; an empty one when it is better to wait for more contexts (Q9)."""
        now = time.monotonic()
        # After every batch of a lone program: no picture is needed to see that.
        if not self._state.working() and not self._state.pages_to_withhold:
            self._runnable_since, self._wait_seconds = now, 0.0
            self._sharing.pause()
            return NOTHING
        view = self._view()
        if view.passes or self._state.loads or self._sharing.seconds_to_wait():
            self._quiet_since = now
        if not view.passes:
            self._runnable_since = now
        self._wait_seconds = self._seconds_to_wait(view, now)
        if self._wait_seconds:
            return Plan()
        plan = self._policy.plan(view)
        if view.requests and not plan.chunks and not plan.moves_pages:
            plan = self._stalled_plan(now) or plan
        plan = self._prompt_gate.waits(plan)
        self._wait_seconds = self._wait_seconds or self._prompt_gate.seconds_left
        self._reports.planned(plan)
        return plan

    def _view(self, *, stalled: bool = False) -> View:
        rate = self._page_io.prefill.tokens_per_second
        limits = self._prompt_gate.limits(self._limits, self._runner.model.transients)
        limits = self._with_turnover(limits)
        return tick_view(
            self._state,
            self._accounting,
            lambda passes: self._sharing.select(passes, self._returning(passes), limits, rate),
            stalled=stalled,
        )

    def _returning(self, passes: Sequence[Chunk]) -> list[int]:
        """Contexts without a pass that will most likely have one at once."""
        if len(self._state.contexts) < 2:
            return []
        return list(filter(self.may_return, self._firing.missing([one.context for one in passes])))

    def _with_turnover(self, limits: Limits) -> Limits:
        """With how long it would take to bring the whole pool back."""
        store = self._state.store
        seconds = store.pool.capacity * self._page_io.page_seconds(store.page_size) if self._state.tick_seconds else 0.0
        ticks = seconds / (self._state.tick_seconds or 1.0)
        return msgspec.structs.replace(limits, turnover_ticks=ticks, turnover_seconds=seconds)

    def _seconds_to_wait(self, view: View, now: float) -> float:
        if not view.passes:
            return self._sharing.seconds_to_wait()
        runnable = [one.context for one in view.passes]
        limit = self._limits.max_batch_contexts
        answer = when_to_fire(self._firing, runnable, self._is_awaited, limit, now - self._runnable_since)
        return answer.seconds if isinstance(answer, WaitSeconds) else self.seconds_for_forks(runnable, now)

    def seconds_for_forks(self, runnable: Sequence[int], now: float) -> float:
        """How long to wait for one more fork, while nothing but the first passes of forks can run.

        A program forks one by one, and the first would begin alone: the others would stay a step behind to the end.
        """
        state, batch_seconds = self._state, self._firing.last_batch_seconds
        if not state.forks.issuperset(runnable):
            return 0.0
        left_seconds = min(FORKS_SECONDS, batch_seconds / 2) - (now - state.forked_seconds)
        return max(0.0, min(left_seconds, batch_seconds - (now - self._runnable_since)))

    def may_return(self, context: int) -> bool:
        """Whether a batch may wait for the next pass of a context."""
        state, found = self._state, self._state.contexts.get(context)
        if found is None or found.rests:
            return False
        return context not in state.requests and state.store.contexts[context].resident

    def _is_awaited(self, context: int) -> bool:
        return self.may_return(context) and self._state.has_turn(context)

    def _stalled_plan(self, now: float) -> Plan | None:
        """Nothing moves: after one batch time of grace the first that waits gets its way (Q2).

        If it cannot, the last one is refused, once nothing can change any more.
        """
        quiet_seconds = now - self._quiet_since
        if not is_stalled(self._firing, quiet_seconds):
            self._wait_seconds = max(self._firing.last_batch_seconds - quiet_seconds, 1e-4)
            return None
        plan = self._policy.plan(self._view(stalled=True))
        if not plan.moves_pages and not self._state.relax():
            left_seconds = patience(self._state, self._patience_seconds) - quiet_seconds
            if left_seconds > 0:
                self._wait_seconds = left_seconds
            else:
                refuse_last(self._state)
                self._quiet_since = now + REFUSED_SECONDS
        return plan

    async def _wait_for_change(self) -> None:
        if self._turns is not None:
            self._turns.give(self)
        try:
            async with asyncio.timeout(self._wait_seconds or None):
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
            self._wait_seconds = RETRY_SECONDS
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
        further, continuation, prefetches = self._further_steps(chunks), None, False
        if further and reserve_further(self._state.store, chunks, further):
            entries, continuation = self.build(chunks, further), self._continuation(chunks)
            prefetches = any([task.continuation and not task.continuation.asked for task, _ in chunks])
        else:
            further = 0
        entries = self._claims.with_slots(chunks, entries)
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

    def _further_steps(self, chunks: Chunks) -> int:
        """How many steps may follow a batch at once, if there are pages for them: none while others have work."""
        working = len(list(filter(self._state.has_turn, self._state.working())))
        if not chunks or working > len(chunks):
            return 0
        steps = MOST_STEPS
        for task, count in chunks:
            if task.continuation is None or count < task.remaining:
                return 0
            steps = min(steps, task.continuation.count)
        return steps

    def _continuation(self, chunks: Chunks) -> StopCondition:
        turn, changed, turns = self._state.turn, self._state.changed, self._turns
        tasks = [task for task, _ in chunks]
        plans = [task.continuation for task in tasks if task.continuation is not None]

        def is_wanted() -> bool:
            over = changed.is_set() if turn is None else time.monotonic() >= turn.until_seconds
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
        self._firing = self._firing.fired([task.context.id for task, _ in chunks if not task.follows])

    def commit(self, chunks: Chunks, outcome: Outcome, *, ahead: bool) -> None:
        """The batch is computed, and what followed it at once: pages, money, replies, events."""
        seconds, steps = outcome.seconds + outcome.further_seconds, outcome.steps
        each = seconds / steps
        self._firing = self._firing.completed(each)
        # Time in which nothing could fire is no wait: counted, it would let those that missed this batch fire at once
        # and alone, and the programs would stay in two groups that take turns for good.
        before, self._committed = self._committed, time.monotonic()
        self._sharing.commit(chunks, seconds, steps)
        self._runnable_since = self._committed
        counts = [count for _, count in chunks]
        tokens = sum(counts)
        self._page_io.observe_prefill(counts, outcome.seconds, self._state.window_cost.plain_seconds)
        drafts = [task.drafts for task, _ in chunks if task.window and task.drafts]
        waited = max([task.window.waited_seconds for task, _ in chunks if task.window is not None], default=0.0)
        each_step = max(0.0, self._committed - before - waited) / steps
        self._state.completed(Tick(len(chunks), tokens, len(drafts), sum(drafts), each_step))
        made: dict[int, int] = {}
        model = self._runner.model
        recurrence = model.network.recurrence if model.recurrent else None
        for (task, count), result in zip(chunks, outcome.results, strict=True):
            made[task.context.id] = take_result(self._state.store, recurrence, task, count, result)
            if count > 1 and not task.replay:
                self._reports.progressed(task.context, count)
        self._settle(chunks, made, each)
        self._after_batch(chunks)
        self._end_tick(chunks, tokens, seconds, steps, ahead=ahead)

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

    def _end_tick(self, chunks: Chunks, tokens: int, seconds: float, steps: int, *, ahead: bool) -> None:
        state = self._state
        state.tick_seconds += (NEWEST_TICK if state.tick_seconds else 1.0) * (seconds / steps - state.tick_seconds)
        waiting = state.working().difference([task.context.id for task, _ in chunks if not task.replay])
        for context in waiting:
            state.contexts[context].waiting_ticks += context in state.requests or state.has_turn(context)
        following, added = (steps - 1) * len(chunks), [task.added_tokens(count) for task, count in chunks]
        self._emit(
            TickCompleted(
                tick=state.ticks,
                contexts=len(chunks),
                tokens=tokens + following,
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
