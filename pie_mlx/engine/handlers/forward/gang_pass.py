"""One pass of a gang: contexts whose last rows the sampler's rule joins, and which all go on with the token drawn."""

from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from pie_mlx import calls
from pie_mlx.engine.handlers.forward.checkpointing import keep_way_back
from pie_mlx.engine.handlers.forward.continuation import (
    advance,
    claimed_tokens,
    finish_reason,
    limit_steps,
    may_continue,
    run_passes,
    split_prefetched,
)
from pie_mlx.engine.handlers.forward.drawn_tokens import report_drawn
from pie_mlx.engine.handlers.forward.forward_request import check_lengths, next_sampler, read_inputs, requests
from pie_mlx.engine.handlers.forward.pass_pages import pay_for, undone_by_errors
from pie_mlx.engine.handlers.forward.reporting import report_tokens
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.market import declared_horizon
from pie_mlx.engine.model.adapters import NO_ADAPTER
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.scheduler.forward_task import PassContinuation, freedom_of
from pie_mlx.engine.scheduler.gangs import GangContinuation, following
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.scheduler.tick_state import ATOMIC_TOKENS
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.logit_mask import allowed_next, pack_runs
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.events import PassCompleted


@dataclass(slots=True)
class _Part:
    """What one context of a gang computes in a pass; it held `held` tokens before."""

    context: LiveContext
    call: calls.Forward
    held: int
    inputs: Sequence[WorkingToken]
    continuation: PassContinuation | None = None

    @property
    def further(self) -> int:
        return 0 if self.continuation is None else self.continuation.kept


async def forward_together(
    services: Services, process: HostedProcess, context: LiveContext, call: calls.Forward, matchers: Sequence[Matcher]
) -> calls.ForwardReply:
    """All passes of a call of several contexts, the first of which draws. Raises InvalidArgumentError for a pass that
    does more than that, or joins rows of two models, and what any pass raises, of any of the contexts."""
    for model, seat in process.seats.items():
        if seat is not process and (foreign := [one.context for one in call.others if one.context in seat.contexts]):
            raise InvalidArgumentError(
                f"forward: rows of two models, {services.model_info.name} and {model}: context {foreign[0]} is of the "
                "other one",
                hint="join contexts of one model, for example with an adapter or another prompt",
            )
    gang = [context, *(process.context(one.context) for one in call.others)]
    _check(call, gang)
    for one in gang:
        one.raise_deferred()

    def run(one: calls.Forward, steps: PassContinuation | None) -> Coroutine[Any, Any, calls.ForwardReply]:
        return _pass(services, process, gang, one, matchers, steps)

    if call.continuation is None or not call.continuation.asked:
        return await run(call, None)
    return await run_passes(run, gang, call, call.continuation)


def _check(call: calls.Forward, gang: Sequence[LiveContext]) -> None:
    """Raises InvalidArgumentError for contexts named twice, and for a pass that does not just draw one token."""
    if len(gang) > calls.MOST_OTHERS + 1 or len({one.id for one in gang}) < len(gang):
        raise InvalidArgumentError(
            f"forward: {len(gang)} contexts of one pass, at most {calls.MOST_OTHERS + 1} different ones",
            hint="name each once, and fork a context to use it twice",
        )
    sampler = next_sampler(call)
    plain = call.speculation is None and call.reserve and call.commit
    if sampler is None or sampler.rule is None or not plain:
        raise InvalidArgumentError(
            "forward: a pass of several contexts draws one token with a rule at its last input, and reads nothing "
            "else; it has no positions, attention masks or drafts",
            hint="read probes and draft in passes of one context",
        )
    for tokens in (call.pending + call.tokens, *(one.tokens for one in call.others)):
        if not 0 < len(tokens) <= ATOMIC_TOKENS:
            raise InvalidArgumentError(
                f"forward: {len(tokens)} inputs of one context in a pass of several, 1 to {ATOMIC_TOKENS} go together",
                hint="compute the prompt of each context first, all but its last token",
            )


async def _pass(
    services: Services,
    process: HostedProcess,
    gang: Sequence[LiveContext],
    call: calls.Forward,
    matchers: Sequence[Matcher],
    continuation: PassContinuation | None,
) -> calls.ForwardReply:
    context = gang[0]
    async with AsyncExitStack() as held:
        for one in sorted(gang, key=attrgetter("id")):  # two gangs that share contexts never wait for each other
            await held.enter_async_context(one.turn)
        for one in gang:
            one.check_live()
        now = services.clock()
        for one in gang:
            one.requested_seconds = now
        if services.rules is not None:
            await services.rules.warm(call.slots)
        held.enter_context(services.queue.together(gang))
        await services.queue.restore_together(gang)
        claimed = claimed_tokens(context, call)
        parts = _parts(services, process, gang, call, held)
        if call.horizon is not None:
            services.rebid(process, context, declared_horizon(*call.horizon))
        for one in gang[1:]:
            one.bid, one.expected = context.bid, context.expected
        read, further = _plan(services, parts, matchers, continuation, claimed)
        tokens = sum(len(part.inputs) for part in parts)
        results = await pay_for(services, process.account, tokens, further, _run(services, parts, read))
        replayed = sum(one.replayed for one in gang)
        for part in parts:
            _report(services, process, part, finish_reason(call, results))
            if services.details.tokens:
                report_tokens(services, process, part.context, part.held, part.inputs, results)
        split_prefetched(context, call, None, results, claimed)
        context.sampled += parts[0].further + 1
        if context.watch is not None:
            report_drawn(services, process, context, context.watch)
        terminated = advance(call, matchers, results, continuation)
        if matchers:
            services.language.grammars.ahead.moved(matchers)
        counters = [services.store.contexts[one.id].counters() for one in gang]
        return calls.ForwardReply(
            results, counters[0], terminated, kept=parts[0].further, replayed=replayed, others=counters[1:]
        )


def _parts(
    services: Services,
    process: HostedProcess,
    gang: Sequence[LiveContext],
    call: calls.Forward,
    held: AsyncExitStack,
) -> list[_Part]:
    """The inputs of each context, checked; adapters stay as they are until the pass is over."""
    parts: list[_Part] = []
    for context, own in zip(gang, [call, *map(_own_call, call.others)], strict=True):
        use = NO_ADAPTER
        if own.adapter or own.zo_seed:
            use = held.enter_context(services.adapters.used(process.username, own.adapter, own.zo_seed))
        length = services.store.sequence_length(context.id)
        check_lengths(own, length, services.model_info)
        parts.append(_Part(context, own, length, read_inputs(own, length, services.model_info, use)))
    return parts


def _own_call(other: calls.OtherContext) -> calls.Forward:
    return calls.Forward(other.context, other.tokens, adapter=other.adapter, zo_seed=other.zo_seed)


def _plan(
    services: Services,
    parts: Sequence[_Part],
    matchers: Sequence[Matcher],
    continuation: PassContinuation | None,
    claimed: int,
) -> tuple[LogitsRequest, GangContinuation | None]:
    """What the first context draws, and the steps that may follow."""
    context, call, inputs = parts[0].context, parts[0].call, parts[0].inputs
    fixed = pack_runs(call.logit_mask, services.model_info.vocabulary_size) if call.logit_mask else None
    free = freedom_of(matchers)
    bound = () if free.tokens else matchers
    mask = allowed_next(bound, fixed) if bound or fixed is not None else None
    (read,) = requests(services.store, context, call, inputs, mask, claimed)
    read = replace(read, index=len(inputs) - 1, gang=context.id)
    if continuation is None or not may_continue(call, matchers):
        return read, None
    continuation.restrict(bound, fixed, free)
    return read, _continued(services, parts, continuation)


def _continued(services: Services, parts: Sequence[_Part], continuation: PassContinuation) -> GangContinuation:
    """The further steps of each context, as those of the first one."""
    for part in parts:
        part.continuation = continuation
        if part is not parts[0]:
            steps = continuation.wanted, continuation.stop_tokens
            part.continuation = PassContinuation.of(part.context, *steps)
        limit_steps(services, part.continuation, 0, part.held + len(part.inputs))
    return GangContinuation([part.continuation for part in parts if part.continuation is not None])


async def _run(services: Services, parts: Sequence[_Part], read: LogitsRequest) -> list[calls.AnyResult]:
    """Reserve, compute and commit; on any error all contexts are as they were (E3, E6)."""
    first, *others = parts
    store, network = services.store, services.runner.model.network
    recurrent = services.runner.model.recurrent
    with ExitStack() as undone:
        for part in parts:
            undone.enter_context(undone_by_errors(services, part.context, commits=True))
        await _reserve(services, parts)
        states = [network.state(part.context.id) if recurrent else None for part in parts]
        committed = [store.contexts[part.context.id].committed for part in parts]
        followers = following(
            first.context,
            [part.context for part in others],
            [part.inputs for part in others],
            [part.continuation for part in others],
        )
        try:
            results = await services.queue.run(
                first.context,
                first.inputs,
                [read],
                commits=True,
                continuation=first.continuation,
                followers=followers,
            )
        finally:
            failures = [one.failure for one in followers]
        for failure in failures:
            if failure is not None:
                raise failure
        for part, before, pages in zip(parts, states, committed, strict=True):
            if recurrent and pages != store.contexts[part.context.id].committed:
                keep_way_back(services, part.context, before)
        return results


async def _reserve(services: Services, parts: Sequence[_Part]) -> None:
    """Take the pages that all contexts need, all or none."""
    store = services.store
    each = [store.working.lacking(part.context.id, len(part.inputs)) for part in parts]
    states = [store.states.lacking_pages(part.context.id) if store.states.pages_each else 0 for part in parts]

    def take() -> None:
        for part, pages in zip(parts, each, strict=True):
            if store.states.pages_each:
                store.states.take_pages(part.context.id)
            store.working.reserve(part.context.id, pages)

    if pages := sum(each) + sum(states):
        await services.queue.with_pages_together([part.context for part in parts], pages, take)


def _report(services: Services, process: HostedProcess, part: _Part, finish: str) -> None:
    context, reads = part.context, bool(part.call.slots)
    restored, context.replayed = context.replayed, 0
    reread, context.reread = context.reread, 0
    services.emit(
        PassCompleted(
            process=process.id,
            context=context.id,
            attached_tokens=0,
            computed_tokens=len(part.inputs) + part.further,
            rows_read=1 + part.further if reads else 0,
            held_tokens=part.held,
            requested_seconds=context.requested_seconds,
            completed_seconds=services.clock(),
            bid=context.bid,
            following=part.further,
            started_seconds=context.started_seconds,
            replayed_tokens=restored,
            restored_tokens=restored,
            batch_contexts=context.batch_contexts,
            finish=finish if reads else "",
            reread_tokens=reread,
        )
    )
