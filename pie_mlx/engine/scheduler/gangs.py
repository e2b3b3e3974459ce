"""Gangs: contexts of one program whose next pass is one, because a rule joins their rows.

To the planner a gang is its first context: that one waits, bids and asks for pages on behalf of all, all leave the pool
together, and their pass runs once all are back. So no gang waits while another one holds a part of what it needs.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from msgspec.structs import replace

from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.model.runner.batch import LogitsRequest, SharedDraw
from pie_mlx.engine.policies import Chunk, ContextView, RequestView
from pie_mlx.engine.scheduler.forward_task import ForwardTask, PassContinuation
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.scheduler.tick_state import TickState


@dataclass(frozen=True, slots=True)
class GangContinuation:
    """The steps after the pass of a gang; each computes one token in every context."""

    each: Sequence[PassContinuation]

    @property
    def count(self) -> int:
        return min(one.count for one in self.each) * len(self.each)

    @property
    def kept(self) -> int:
        return sum(one.kept for one in self.each)

    def trim(self, count: int) -> None:
        """Compute no more than `count` tokens in all."""
        for one in self.each:
            one.trim(count // len(self.each))


def following(
    first: LiveContext,
    contexts: Sequence[LiveContext],
    inputs: Sequence[Sequence[WorkingToken]],
    continuations: Sequence[PassContinuation | None],
) -> list[ForwardTask]:
    """The passes of the other `contexts` of a gang: they run with that of the `first` one, whose token they go on
    with."""
    loop = asyncio.get_running_loop()
    return [
        ForwardTask(
            context,
            own,
            [LogitsRequest(len(own) - 1, SharedDraw(place), gang=first.id)],
            0,
            loop.create_future(),
            commits=True,
            continuation=continuation,
            follows=True,
        )
        for place, (context, own, continuation) in enumerate(zip(contexts, inputs, continuations, strict=True))
    ]


def gang_passes(state: TickState, passes: Iterable[Chunk]) -> Iterable[Chunk]:
    """`passes`, with those of a gang as one; none of a gang while one of its contexts is off-pool."""
    for chunk in passes:
        task = state.next_pass(chunk.context)
        if task is None or not task.followers:
            yield chunk
        elif state.is_usable(chunk.context):
            tokens = chunk.tokens + sum(one.remaining for one in task.followers)
            yield Chunk(chunk.context, tokens, atomic=True, contexts=1 + len(task.followers))


def gang_requests(state: TickState, requests: Iterable[RequestView]) -> Iterable[RequestView]:
    """`requests`, with those of gangs for all of their contexts; a gang that is being restored asks for nothing."""
    contexts, need = state.store.contexts, state.store.suspender.restore_need
    for request in requests:
        others = [one.id for one in state.together(state.contexts[request.context]) if one.id != request.context]
        if not any(contexts[number].restoring for number in others):
            yield replace(request, pages=request.pages + sum(map(need, others)))


def gang_contexts(state: TickState, views: Sequence[ContextView]) -> tuple[ContextView, ...]:
    """`views`, with the first context of each gang as the holder of all of its pages."""
    by_number = {view.context: view for view in views}
    return tuple([_as_one(state, view, by_number) for view in views])


def _as_one(state: TickState, view: ContextView, views: dict[int, ContextView]) -> ContextView:
    if view.context not in state.gangs:
        return view
    own = [views[one.id] for one in state.gangs[view.context] if one.id in views]
    first = own[0]
    if view is not first:
        return replace(
            view,
            bid=first.bid,
            arrival=first.arrival,
            waiting_ticks=first.waiting_ticks,
            pages=0.0,
            private_pages=0,
            shared_runs=(),
            growth_pages=0,
        )
    return replace(
        first,
        pages=sum(one.pages for one in own),
        private_pages=sum(one.private_pages for one in own),
        shared_runs=tuple(chain.from_iterable(one.shared_runs for one in own)),
        growth_pages=sum(one.growth_pages for one in own),
        fresh=any(one.fresh for one in own),
        has_work=any(one.has_work for one in own),
        stay_rows=min(one.stay_rows for one in own),
    )
