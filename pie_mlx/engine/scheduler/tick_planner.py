"""What the next tick does, and whether it waits for more contexts."""

import time
from collections.abc import Sequence

import msgspec

from pie_mlx.engine.market.accounting import Accounting
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.paging.page_io import PageIO
from pie_mlx.engine.policies import Chunk, Limits, Plan, Policy, View
from pie_mlx.engine.policies.planner import FiringState, WaitSeconds, is_stalled, when_to_fire
from pie_mlx.engine.scheduler.oom import patience, refuse_last
from pie_mlx.engine.scheduler.reports import TickReports
from pie_mlx.engine.scheduler.sharing import DeviceSharing
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.engine.scheduler.tick_view import PromptGate, tick_view

NOTHING = Plan()
"""The plan while no context has work."""

REFUSED_SECONDS = 0.25
"""Time for a program that was refused pages to release some, before the next one is refused."""

FORKS_SECONDS = 2e-3
"""How long the first passes of forks wait for one more fork, and no longer than half a batch takes."""


class TickPlanner:
    """Asks the policy for the plan of each tick, or has the tick wait (Q9). For the scheduler's loop.

    `wait_seconds` is after how long to plan again although nothing has changed; 0 for never.
    """

    def __init__(
        self,
        state: TickState,
        runner: Runner,
        accounting: Accounting,
        policy: Policy,
        limits: Limits,
        page_io: PageIO,
        sharing: DeviceSharing,
        reports: TickReports,
        *,
        patience_seconds: float,
    ) -> None:
        self._state, self._runner, self._accounting = state, runner, accounting
        self._policy, self._limits, self._patience_seconds = policy, limits, patience_seconds
        self._page_io, self._sharing, self._reports = page_io, sharing, reports
        self._prompt_gate = PromptGate(state)
        self._firing = FiringState()
        self._quiet_since = self._runnable_since = time.monotonic()
        self.wait_seconds = 0.0

    def plan(self) -> Plan:
        """This moment's plan; an empty one when it is better to wait for more contexts (Q9)."""
        now = time.monotonic()
        # After every batch of a lone program: no picture is needed to see that.
        if not self._state.working() and not self._state.pages_to_withhold:
            self._runnable_since, self.wait_seconds = now, 0.0
            self._sharing.pause()
            return NOTHING
        view = self._view()
        if view.passes or self._state.loads or self._sharing.seconds_to_wait():
            self._quiet_since = now
        if not view.passes:
            self._runnable_since = now
        self.wait_seconds = self._seconds_to_wait(view, now)
        if self.wait_seconds:
            return Plan()
        plan = self._policy.plan(view)
        if view.requests and not plan.chunks and not plan.moves_pages:
            plan = self._stalled_plan(now) or plan
        plan = self._prompt_gate.waits(plan)
        self.wait_seconds = self.wait_seconds or self._prompt_gate.seconds_left
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
        """The limits, with the measured time to bring the whole pool back."""
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
            self.wait_seconds = max(self._firing.last_batch_seconds - quiet_seconds, 1e-4)
            return None
        plan = self._policy.plan(self._view(stalled=True))
        if not plan.moves_pages and not self._state.relax():
            left_seconds = patience(self._state, self._patience_seconds) - quiet_seconds
            if left_seconds > 0:
                self.wait_seconds = left_seconds
            else:
                refuse_last(self._state)
                self._quiet_since = now + REFUSED_SECONDS
        return plan

    def batch_begins(self, contexts: Sequence[int]) -> None:
        """The passes of these contexts enter a batch."""
        self._firing = self._firing.fired(contexts)

    def batch_ends(self, step_seconds: float, now: float) -> None:
        """It took `step_seconds` a step, and is over at `now` (monotonic)."""
        self._firing = self._firing.completed(step_seconds)
        self.device_was_busy(now)

    def device_was_busy(self, now: float) -> None:
        """No batch could begin until `now` (monotonic): for contexts that are missing, the wait begins then.

        Otherwise, those that missed the last batch would run at once and alone, and the programs would stay in two
        groups that take turns for good.
        """
        self._runnable_since = now
