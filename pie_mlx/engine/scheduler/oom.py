"""Which call gets OutOfPagesError, and when: once nothing moves any more, whatever the policy does."""

from collections.abc import Iterable

from pie_mlx.engine.scheduler.forward_task import ForwardTask
from pie_mlx.engine.scheduler.tick_state import PageRequest, TickState
from pie_mlx.errors import OutOfPagesError

OWN_SECONDS = 1.0
"""Time for programs that wait for pages to release others of their own."""


def patience(state: TickState, longest_seconds: float) -> float:
    """How long a standstill may last, in seconds.

    Zero once every page holder is itself waiting. While programs hold pages and compute between passes, as long as a
    pass may wait.
    """
    waiting = {one.id for context in state.working() for one in state.together(state.contexts[context])}
    idle = [context for context in _holders(state) if context not in waiting]
    if not idle:
        return 0.0
    accounts = {state.contexts[context].account for context in waiting}
    own = all(state.contexts[context].account in accounts for context in idle)
    return min(OWN_SECONDS, longest_seconds) if own else longest_seconds


def refuse_last(state: TickState) -> None:
    """Have the latest call fail, so that earlier ones may go on with the pages that its program releases."""
    store, pool = state.store, state.store.pool
    displaced = (task for task in state.passes.values() if not store.contexts[task.context.id].resident)
    waiting: list[PageRequest | ForwardTask] = [*state.requests.values(), *displaced]
    refused = max(waiting, key=lambda call: call.arrival)
    context = refused.context.id
    absent = sum(store.suspender.restore_need(one.id) for one in state.together(refused.context))
    needed = absent + (refused.pages if isinstance(refused, PageRequest) else 0)
    refused.fail(
        OutOfPagesError(
            f"context {context}: {needed} pages wanted, {pool.available()} of {pool.capacity} available, and no other "
            "context can give any",
            hint="release contexts, or start the engine with more pages",
            needed=needed,
            capacity=pool.capacity,
        )
    )
    state.requests.pop(context, None)
    state.passes.pop(context, None)
    state.changed.set()


def _holders(state: TickState) -> Iterable[int]:
    held = map(state.store.contexts.__getitem__, state.contexts)
    return (context.number for context in held if context.resident and context.pages)
