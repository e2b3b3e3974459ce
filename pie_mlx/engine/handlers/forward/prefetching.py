"""Prefetched tokens: drawn behind a pass, though its program asked for one."""

from itertools import takewhile

from pie_mlx.calls import AnyResult, Forward, SampledTokens
from pie_mlx.engine.handlers.forward.forward_request import ForwardRequest, next_sampler
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.scheduler.continuation import FurtherSteps
from pie_mlx.engine.scheduler.live_context import LiveContext, Prefetched
from pie_mlx.errors import InvalidArgumentError

MOST_PREFETCHED = 16
"""What each pass takes besides its steps is spread over as many by then."""

FEWEST_PREFETCHED = 3
"""For fewer, the one step that is in flight anyway has to do."""

LONGEST_SECONDS = 32e-3
"""How much later the first token may come for the sake of prefetched ones: two frames of a screen."""


def claimed_tokens(context: LiveContext, call: Forward) -> int:
    """How many prefetched tokens a program has used since its last pass. Raises InvalidArgumentError for more than it
    received."""
    claimed = 0 if call.continuation is None else call.continuation.claimed
    check_claimed(context, claimed)
    return claimed


def check_claimed(context: LiveContext, claimed: int) -> None:
    """Raises InvalidArgumentError for more prefetched tokens than the program received."""
    if not 0 <= claimed <= context.unclaimed:
        raise InvalidArgumentError(
            f"forward: {claimed} prefetched tokens claimed of {context.unclaimed}",
            hint="claim only what a reply brought",
        )


def prefetching(context: LiveContext, call: Forward) -> FurtherSteps | None:
    """The steps that may be taken behind a pass before they are asked for; None where a step might be another one."""
    plan, sampler = call.continuation, next_sampler(call)
    if (
        plan is None
        or not plan.tokens
        or sampler is None
        or sampler.scores
        or call.matchers
        or call.adapter
        or call.zo_seed
    ):
        return None
    return FurtherSteps.of(context, plan.tokens, frozenset(plan.stop_tokens), asked=False)


def limit_prefetching(continuation: FurtherSteps, claimed: int, step_seconds: float | None) -> None:
    """Prefetch no more than pays where a step takes `step_seconds` lately, and the program used `claimed`."""
    in_time = int(LONGEST_SECONDS / step_seconds) if step_seconds else 0
    most = min(in_time, _prefetch_limit(continuation.context, claimed)) if in_time >= FEWEST_PREFETCHED else 0
    continuation.trim(most)


def _prefetch_limit(context: LiveContext, claimed: int) -> int:
    """Twice as many as the last time, none where the program left some of them.

    The first pass of a text, which brings its prompt, is answered at once.
    """
    before = context.prefetched
    if before is None or claimed < before.drawn:
        return 0
    return min(2 * before.limit or 1, MOST_PREFETCHED)


def split_prefetched(
    context: LiveContext, call: Forward, continuation: FurtherSteps | None, results: list[AnyResult], claimed: int
) -> list[int]:
    """The prefetched tokens, taken out of `results`; none where another call waits, which comes before them (P3).

    Counts the `claimed` ones of before.
    """
    ahead, rows = list[int](), list[int]()
    if continuation is not None and not continuation.asked and isinstance(drawn := results[0], SampledTokens):
        results[0] = SampledTokens(drawn.tokens[:1])
        if continuation.is_current:
            ahead, rows = drawn.tokens[1:], drawn.tokens[:-1]
    context.sampled += claimed
    context.unclaimed += len(ahead) - claimed
    plan = call.continuation
    if plan is None or plan.asked or not plan.tokens:
        context.prefetched = None
    else:
        limit = _prefetch_limit(context, claimed)
        context.prefetched = Prefetched(limit, len(ahead), rows, context.named, context.suspensions)
    return ahead


def count_in(store: PageStore, context: LiveContext, request: ForwardRequest) -> int:
    """Count the first inputs of a pass to the context, as far as their KV is prefetched; how many.

    Never all of them, so that the pass is one like any other.
    """
    known = context.prefetched
    if known is None or context.named != known.named + 1 or context.suspensions != known.suspensions:
        return 0
    pending = request.inputs[: min(request.own_start, len(request.inputs) - 1)]
    pairs = takewhile(lambda pair: pair[0].token == pair[1], zip(pending, known.rows, strict=False))
    count = sum(1 for _ in pairs)
    store.working.append(context.id, pending[:count])
    return count
