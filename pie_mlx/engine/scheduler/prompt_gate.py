"""Which prompts wait for memory, and how large a batch may be, by the peak that is predicted for it."""

import time

from msgspec.structs import replace

from pie_mlx.engine.model.memory import BatchSize, Transients
from pie_mlx.engine.schedule import Limits, Plan, Reason, ReasonKind, Wait
from pie_mlx.engine.scheduler.tick_state import ATOMIC_TOKENS, TickState

HOLD_SECONDS = 10.0
"""How long prompts wait for memory while nothing else runs, whose end would free some. Then they go in small pieces."""


class PromptGate:
    """Bounds batches while the system is short of memory. Lives within the tick loop."""

    def __init__(self, state: TickState) -> None:
        self._state = state
        self._since: float | None = None

    def limits(self, usual: Limits, transients: Transients) -> Limits:
        """The limits of a batch that the memory allows; where it allows none, `holds_prompts` is set."""
        state, allowed = self._state, self._state.memory.step_bytes
        if allowed is None:
            state.holds_prompts, self._since = False, None
            return usual
        reads = sum(len({read.index for read in item.reads}) for item in state.passes.values())
        fewest = min(ATOMIC_TOKENS, usual.max_batch_tokens)
        rows = transients.fitting_rows(allowed, BatchSize(usual.max_batch_tokens, reads), fewest)
        state.holds_prompts = not rows and not self._is_over(time.monotonic())
        return replace(usual, max_batch_tokens=rows or fewest)

    def waits(self, plan: Plan) -> Plan:
        """The plan with the prompts that wait for memory."""
        if not self._state.holds_prompts:
            self._since = None
            return plan
        held = [item.context for item in self._state.passes.values() if self._state.is_held(item)]
        if not held or plan.chunks:
            self._since = None
        elif self._since is None:
            self._since = time.monotonic()
        waits = (Wait(live.id, Reason(ReasonKind.MEMORY, live.bid, waited_ticks=live.waiting_ticks)) for live in held)
        return replace(plan, waits=(*plan.waits, *waits))

    @property
    def seconds_left(self) -> float:
        """After which to look again, 0 for never."""
        return 0.0 if self._since is None else max(1e-3, self._since + HOLD_SECONDS - time.monotonic())

    def _is_over(self, now: float) -> bool:
        return self._since is not None and now >= self._since + HOLD_SECONDS
