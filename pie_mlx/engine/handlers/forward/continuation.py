"""Steps after a pass: those that its call asks for, and tokens that are prefetched although it asked for one."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import reduce
from itertools import takewhile
from operator import add

from msgspec.structs import replace

from pie_mlx.calls import AnyResult, Continuation, Forward, ForwardReply, SampledTokens, Sampler, Slot, joined
from pie_mlx.engine.handlers.forward.forward_request import next_sampler
from pie_mlx.engine.kv import PageStore, WorkingToken
from pie_mlx.engine.scheduler.forward_task import PassContinuation, advance_matchers
from pie_mlx.engine.scheduler.live_context import LiveContext, Prefetched
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.errors import BatchFailedError, ForwardTimeoutError, InvalidArgumentError, PieError

MOST_PREFETCHED = 16
"""Tokens at most; the fixed cost of a pass is then spread over as many steps."""

FEWEST_PREFETCHED = 3
"""Nothing is prefetched if it would be fewer: one step is in flight anyway."""

LONGEST_SECONDS = 32e-3
"""Prefetching may delay the token that was asked for by no more than two frames of a screen."""

RunPass = Callable[[Forward, PassContinuation | None], Awaitable[ForwardReply]]


async def run_passes(run: RunPass, contexts: Sequence[LiveContext], call: Forward, plan: Continuation) -> ForwardReply:
    """Run all passes of a call on `contexts`, the first of which draws; the reply brings their tokens as those of one.

    Raises InvalidArgumentError for a call that cannot continue, and what the first pass raises. If a later pass fails,
    the reply brings the tokens so far, and the next call gets the error. A later call on the context ends the passes:
    it comes before steps that its program has not asked for yet (P3).
    """
    context, sampler, named = contexts[0], _checked_sampler(call, plan), [one.named for one in contexts]
    stops, wanted = frozenset(plan.stop_tokens), plan.tokens + 1
    reply = await run(call, PassContinuation.of(context, plan.tokens, stops))
    replies, drawn, in_kv = [reply], _drawn(reply), reply.kept
    while not (ended := _ends(reply, stops) or len(drawn.tokens) >= wanted):
        if named != [one.named for one in contexts] or _is_cancelled():
            break
        left = wanted - len(drawn.tokens)
        try:
            sampler = sampler.after(drawn.states[-1]) if drawn.states else sampler
            following = _following(call, plan, sampler, drawn.tokens, in_kv)
            reply = await run(following, PassContinuation.of(context, left - 1, stops))
        except (BatchFailedError, ForwardTimeoutError) as error:
            context.deferred_error = error  # the next call would not meet it again
            break
        except (PieError, asyncio.CancelledError):
            break
        in_kv = len(drawn.tokens) + reply.kept
        drawn = joined([drawn, _drawn(reply)])
        replies.append(reply)
    context.rests = ended
    return _as_one(replies, drawn, in_kv)


def _checked_sampler(call: Forward, plan: Continuation) -> Sampler:
    """What draws each token. Raises InvalidArgumentError for a call that cannot continue."""
    if not isinstance(plan.tokens, int) or plan.tokens < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidArgumentError(f"continuation: {plan.tokens} tokens", hint="ask for none or more")
    sampler = next_sampler(call)
    if sampler is None:
        raise InvalidArgumentError(
            "forward: passes follow one another only where each draws one token at its last input, reads nothing else, "
            "and has no positions, attention masks or drafts of the program",
            hint="send the passes one by one",
        )
    return sampler


def _as_one(replies: Sequence[ForwardReply], drawn: SampledTokens, in_kv: int) -> ForwardReply:
    """The last reply, with what all passes drew and cost; `in_kv` of the `drawn` tokens have KV."""
    reuses = [one.reuse for one in replies if one.reuse is not None]
    return replace(
        replies[-1],
        results=[drawn],
        attached=replies[0].attached,
        replayed=sum(one.replayed for one in replies),
        drafted=sum(one.drafted for one in replies),
        kept=in_kv,
        reuse=reduce(add, reuses) if reuses else None,
        forced=sum(one.forced for one in replies),
    )


def _following(call: Forward, plan: Continuation, sampler: Sampler, drawn: list[int], in_kv: int) -> Forward:
    """The next pass of a call: it computes those `drawn` that are not in KV."""
    tokens, left, speculation = drawn[in_kv:], plan.tokens - len(drawn), call.speculation
    if speculation is not None:
        speculation = replace(speculation, limit=min(speculation.limit, left)) if left else None
    return replace(
        call,
        tokens=tokens,
        pending=[],
        slots=[Slot(len(tokens) - 1, sampler)],
        speculation=speculation,
        continuation=replace(plan, tokens=left, claimed=0),
        others=[replace(one, tokens=tokens) for one in call.others],
        horizon=None if plan.prospect is None else plan.prospect.after(len(drawn)),
    )


def _drawn(reply: ForwardReply) -> SampledTokens:
    (result,) = reply.results
    return result if isinstance(result, SampledTokens) else SampledTokens([])


def _ends(reply: ForwardReply, stops: frozenset[int]) -> bool:
    """Whether the text ends with this pass."""
    drawn = _drawn(reply)
    return reply.grammar_terminated or drawn.ended or not stops.isdisjoint(drawn.tokens)


def _is_cancelled() -> bool:
    """Whether the call is being cancelled. A pass that is already on the device completes, and hides that (E5)."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def claimed_tokens(context: LiveContext, call: Forward) -> int:
    """How many prefetched tokens a program has used since its last pass. Raises InvalidArgumentError for more than it
    received."""
    return check_claimed(context, 0 if call.continuation is None else call.continuation.claimed)


def check_claimed(context: LiveContext, claimed: int) -> int:
    """`claimed`. Raises InvalidArgumentError for more prefetched tokens than the program received."""
    if not 0 <= claimed <= context.unclaimed:
        raise InvalidArgumentError(
            f"forward: {claimed} prefetched tokens claimed of {context.unclaimed}",
            hint="claim only what a reply brought",
        )
    return claimed


def prefetching(context: LiveContext, call: Forward) -> PassContinuation | None:
    """What prefetches steps after a pass; None where the program might ask for other steps than these."""
    plan, sampler = call.continuation, next_sampler(call)
    if plan is None or not plan.tokens or sampler is None or sampler.scores:
        return None
    if sampler.rule is not None and (sampler.carries_states or sampler.ends_text):
        return None  # a reply brings prefetched tokens without their states
    if call.matchers or call.adapter or call.zo_seed:
        return None
    return PassContinuation.of(context, plan.tokens, frozenset(plan.stop_tokens), asked=False)


def limit_prefetching(steps: PassContinuation, claimed: int, step_seconds: float | None) -> None:
    """Prefetch no more than pays: a step takes `step_seconds` lately, and the program used `claimed` tokens of the last
    reply."""
    in_time = int(LONGEST_SECONDS / step_seconds) if step_seconds else 0
    steps.trim(min(in_time, _prefetch_limit(steps.context, claimed)) if in_time >= FEWEST_PREFETCHED else 0)


def _prefetch_limit(context: LiveContext, claimed: int) -> int:
    """Twice as many as the last time, none if the program left some of them unused.

    The first pass of a text, which computes its prompt, prefetches nothing and so is answered at once.
    """
    before = context.prefetched
    if before is None or claimed < before.drawn:
        return 0
    return min(2 * before.limit or 1, MOST_PREFETCHED)


def limit_steps(services: Services, continuation: PassContinuation, claimed: int, length: int) -> None:
    """Bound a continuation after `length` tokens by the positions of the model and, if it prefetches, by what pays."""
    continuation.trim(services.model_info.maximum_positions - length)
    if continuation.asked:
        return
    if services.accounting.is_budgeted(continuation.context.account):
        # Tokens are paid for when they are claimed: by then other contexts may have used the budget up (M3).
        continuation.trim(0)
    limit_prefetching(continuation, claimed, services.queue.step_ahead_seconds(continuation.context.user))


def split_prefetched(
    context: LiveContext, call: Forward, steps: PassContinuation | None, results: list[AnyResult], claimed: int
) -> list[int]:
    """Take the prefetched tokens out of `results`; none if another call waits, which comes before them (P3).

    The `claimed` tokens of earlier replies now count as drawn.
    """
    ahead, rows = list[int](), list[int]()
    if steps is not None and not steps.asked and isinstance(drawn := results[0], SampledTokens):
        results[0] = SampledTokens(drawn.tokens[:1])
        if steps.is_current:
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


def append_prefetched(store: PageStore, context: LiveContext, call: Forward, inputs: Sequence[WorkingToken]) -> int:
    """Append to the context the first inputs of a pass whose KV was prefetched; returns how many.

    At least one input is left, so that the pass has something to compute like any other.
    """
    known = context.prefetched
    if known is None or context.named != known.named + 1 or context.suspensions != known.suspensions:
        return 0
    pending = inputs[: min(len(call.pending), len(inputs) - 1)]
    if not pending:
        return 0
    pairs = takewhile(lambda pair: pair[0].token == pair[1], zip(pending, known.rows, strict=False))
    count = sum(1 for _ in pairs)
    store.working.append(context.id, pending[:count])
    return count


def may_continue(call: Forward, matchers: Sequence[Matcher]) -> bool:
    """Whether steps may follow the pass: it must reserve pages, and advance its grammars if it has some."""
    return call.reserve and (call.advance_slot is not None or not matchers)


def advance(
    call: Forward,
    matchers: Sequence[Matcher],
    results: Sequence[AnyResult],
    continuation: PassContinuation | None,
) -> bool:
    """Feed the sampled tokens to the matchers; whether one of them has terminated (G13)."""
    if call.advance_slot is not None:
        sampled = results[call.advance_slot]
        if isinstance(sampled, SampledTokens):
            advance_matchers(matchers, sampled.tokens, continuation)
    return any([matcher.is_terminated for matcher in matchers])


def finish_reason(call: Forward, results: Sequence[AnyResult]) -> str:
    """Why a text ends with a pass, as its call and its rule say: `stop`, `rule` or `length`; "" if it goes on."""
    plan, steps = call.continuation or call.speculation, call.continuation
    for drawn in results:
        if isinstance(drawn, SampledTokens):
            if plan is not None and any([token in plan.stop_tokens for token in drawn.tokens]):
                return "stop"
            if drawn.ended:
                return "rule"
            return "length" if steps is not None and steps.asked and len(drawn.tokens) > steps.tokens else ""
    return ""
