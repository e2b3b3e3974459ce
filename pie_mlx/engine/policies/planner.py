"""The planner: pages first, then the batch."""

from pie_mlx.engine.policies.allocation import Allocation, allocate, first_waiting
from pie_mlx.engine.policies.base import Order
from pie_mlx.engine.policies.batching import fill_batch
from pie_mlx.engine.policies.plan import Plan
from pie_mlx.engine.policies.view import PassView, View


def make_plan(view: View, order: Order) -> Plan:
    """The plan of `view` under `order`; policies differ in their order only."""
    contexts = {context.context: context for context in view.contexts}
    if not view.requests and not view.withhold_pages:
        chunks, waits = fill_batch(view.passes, contexts, order, view.limits)
        return Plan(chunks, waits=waits)
    moves = _allocate(view, order)
    chunks, waits = fill_batch(_runnable(view, moves), contexts, order, view.limits)
    return Plan(
        chunks,
        tuple(moves.grants),
        tuple(moves.restores),
        tuple(moves.suspensions),
        (*moves.waits, *waits),
    )


def _allocate(view: View, order: Order) -> Allocation:
    moves = allocate(view, order)
    if not view.stalled or moves.serves_somebody or _runnable(view, moves):
        return moves
    return allocate(view, order, first_waiting(view, order))


def _runnable(view: View, moves: Allocation) -> list[PassView]:
    suspended = {suspension.context for suspension in moves.suspensions}
    granted = set(moves.grants)
    runnable = [item for item in view.passes if item.context not in suspended]
    runnable += [
        PassView(request.context, request.tokens, request.atomic)
        for request in view.requests
        if request.tokens and request.context in granted
    ]
    return runnable
