"""The planner: pages first, then the batch. When the batch goes to the device is rule Q9 but for whom it waits, what
goes into it rule Q8.

Rule Q9 counts: it waits until as many contexts are runnable as at its high-water mark, which falls by one per batch.
After 32 programs have ended, one that is left would wait in 31 batches for as long as each takes. Here the contexts of
the last two batches are awaited by name, and only while they live and their programs may go on with them at once: not
those that were forked since, nor those whose text has ended.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter

import msgspec
from msgspec.structs import replace

from pie_mlx.engine.policies.allocation import Allocation, allocate, first_waiting
from pie_mlx.engine.policies.base import Order
from pie_mlx.engine.policies.plan import Plan, Wait
from pie_mlx.engine.policies.reason import Reason, ReasonKind
from pie_mlx.engine.policies.view import SHORTEST_PIECES, Chunk, ContextView, Limits, View


class FireNow(msgspec.Struct, frozen=True):
    """Run the batch."""


class WaitSeconds(msgspec.Struct, frozen=True):
    """Look again after at most `seconds`: more contexts may become runnable."""

    seconds: float


class FiringState(msgspec.Struct, frozen=True):
    """What the rule remembers of the last two batches: who was in them, and their wall times once two are completed.

    Two, because of programs that take turns: each misses every other batch.
    """

    recent: tuple[frozenset[int], ...] = ()
    batch_seconds: tuple[float, ...] = ()
    completed_batches: int = 0

    @property
    def last_batch_seconds(self) -> float:
        """What one more batch would cost: the shorter of the two times, as a long prefill tells nothing about a
        decoding step."""
        return min(self.batch_seconds, default=0.0)

    def fired(self, contexts: Iterable[int]) -> "FiringState":
        """The state after a batch of `contexts` has begun."""
        return replace(self, recent=(frozenset(contexts), *self.recent[:1]))

    def completed(self, seconds: float) -> "FiringState":
        """The state after a batch took `seconds`. The first one is warm-up and sets nothing."""
        times = (seconds, *self.batch_seconds[:1]) if self.completed_batches else ()
        return replace(self, batch_seconds=times, completed_batches=self.completed_batches + 1)

    def missing(self, runnable: Iterable[int]) -> frozenset[int]:
        """Contexts of the last two batches that are not `runnable`."""
        return frozenset[int]().union(*self.recent).difference(runnable)


def when_to_fire(
    state: FiringState,
    runnable: Sequence[int],
    may_return: Callable[[int], bool],
    max_batch_contexts: int,
    oldest_seconds: float,
) -> FireNow | WaitSeconds:
    """Whether to run the `runnable` contexts, one at least, or to wait for others of the last two batches.

    `may_return` says of a context whether its program alone decides when it comes back, and may do so at once.
    `oldest_seconds` have passed since the oldest became runnable.
    """
    if len(runnable) >= max_batch_contexts or oldest_seconds >= state.last_batch_seconds:
        return FireNow()
    if not any(map(may_return, state.missing(runnable))):
        return FireNow()
    return WaitSeconds(state.last_batch_seconds - oldest_seconds)


def is_stalled(state: FiringState, quiet_seconds: float) -> bool:
    """Whether waiting contexts may stop waiting for programs to run (`View.stalled`).

    `quiet_seconds` have passed since something was last runnable. One batch time of grace lets programs
    answer the results of a batch before their pages count as idle.
    """
    return quiet_seconds >= state.last_batch_seconds


def paced(limits: Limits, passes: Sequence[Chunk], prefill_tokens_per_second: float | None) -> Limits:
    """The limits of a batch of `passes`: decoding waits for pieces of prompts `decode_stall_seconds` at most.

    The pieces of all prompts together are cut to what is computed in that time, as measured. Until that is known, and
    while no context decodes, the limits stay as they are.
    """
    if prefill_tokens_per_second is None or limits.decode_stall_seconds is None:
        return limits
    decoded = [item.tokens for item in passes if item.atomic]
    if not 0 < len(decoded) < len(passes):
        return limits
    together = max(SHORTEST_PIECES, int(prefill_tokens_per_second * limits.decode_stall_seconds))
    return replace(
        limits,
        max_batch_tokens=min(limits.max_batch_tokens, sum(decoded) + together),
        prefill_chunk_tokens=min(limits.prefill_chunk_tokens, together),
    )


def fill_batch(
    passes: Sequence[Chunk], contexts: dict[int, ContextView], order: Order, limits: Limits
) -> tuple[tuple[Chunk, ...], tuple[Wait, ...]]:
    """The rows of this tick, and the passes that got none.

    Slots and tokens go out in rank order. The head has its whole chunk. What atomic passes need is set aside before
    long inputs of a higher rank take the rest, so that they stall no decoding context. Long inputs that nothing is left
    for wait: one after the other they end sooner than all together by a few tokens each. A view without `contexts` says
    that all passes fit.
    """
    if not contexts or all_fit(passes, limits):
        return _in_order([_first(item, _most_tokens(item, limits)) for item in passes]), ()
    ranked = sorted(passes, key=lambda item: order.batch_rank(contexts[item.context]))
    chunks, waits = _choose(ranked, contexts, limits)
    return _in_order(chunks), tuple(waits)


def all_fit(passes: Sequence[Chunk], limits: Limits) -> bool:
    """Whether one batch has room for all of them, so that no pass needs a rank."""
    if sum([item.contexts for item in passes]) > min(limits.max_batch_contexts, limits.max_user_contexts):
        return False
    return sum([_most_tokens(item, limits) for item in passes]) <= limits.max_batch_tokens


def _in_order(chunks: list[Chunk]) -> tuple[Chunk, ...]:
    return tuple(sorted(chunks, key=attrgetter("context")))


def _choose(ranked: list[Chunk], contexts: dict[int, ContextView], limits: Limits) -> tuple[list[Chunk], list[Wait]]:
    chunks: list[Chunk] = []
    waits: list[Wait] = []
    rows_of: Counter[str] = Counter()
    left, contexts_left = limits.max_batch_tokens, limits.max_batch_contexts
    set_aside = sum(item.tokens for item in ranked if item.atomic)
    for item in ranked:
        set_aside -= item.tokens if item.atomic else 0
        room = left if item.atomic or not chunks else left - set_aside
        tokens = item.tokens if item.atomic else min(_most_tokens(item, limits), room)
        user = contexts[item.context].user
        if chunks and item.contexts > contexts_left:
            waits.append(_wait(contexts[item.context], ReasonKind.BATCH_CONTEXTS))
        elif rows_of[user] and rows_of[user] + item.contexts > limits.max_user_contexts:
            waits.append(_wait(contexts[item.context], ReasonKind.USER_SHARE))
        elif chunks and not 0 < tokens <= room:
            waits.append(_wait(contexts[item.context], ReasonKind.BATCH_TOKENS))
        else:
            chunks.append(_first(item, tokens))
            rows_of[user] += item.contexts
            left, contexts_left = left - tokens, contexts_left - item.contexts
    return chunks, waits


def _first(item: Chunk, tokens: int) -> Chunk:
    return item if tokens == item.tokens else replace(item, tokens=tokens)


def _most_tokens(item: Chunk, limits: Limits) -> int:
    return item.tokens if item.atomic else min(item.tokens, limits.prefill_chunk_tokens, limits.max_batch_tokens)


def _wait(context: ContextView, kind: ReasonKind) -> Wait:
    return Wait(context.context, Reason(kind, context.bid, waited_ticks=context.waiting_ticks))


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
    if not view.stalled or moves.serves_any or _runnable(view, moves):
        return moves
    return allocate(view, order, first_waiting(view, order))


def _runnable(view: View, moves: Allocation) -> list[Chunk]:
    suspended = {suspension.context for suspension in moves.suspensions}
    granted = set(moves.grants)
    runnable = [item for item in view.passes if item.context not in suspended]
    runnable += [
        Chunk(request.context, request.tokens, request.atomic)
        for request in view.requests
        if request.tokens and request.context in granted
    ]
    return runnable
