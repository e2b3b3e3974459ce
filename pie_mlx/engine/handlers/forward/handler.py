"""One forward pass: plan it, attach what is cached, compute the rest, commit, and reply."""

from collections.abc import Coroutine, Sequence
from typing import Any

from msgspec.structs import replace

from pie_mlx import calls
from pie_mlx.calls import Sampler
from pie_mlx.engine.handlers.base import answers
from pie_mlx.engine.handlers.forward.checkpointing import compute_to_checkpoints, keep_way_back
from pie_mlx.engine.handlers.forward.continuation import (
    advance,
    append_prefetched,
    finish_reason,
    prefetching,
    run_passes,
    split_prefetched,
)
from pie_mlx.engine.handlers.forward.drawn_tokens import report_drawn
from pie_mlx.engine.handlers.forward.forward_request import (
    check_plans,
    reads_mean,
)
from pie_mlx.engine.handlers.forward.gang_pass import forward_together
from pie_mlx.engine.handlers.forward.jumping import find_jump, may_jump
from pie_mlx.engine.handlers.forward.pass_pages import (
    PrefixMatch,
    match_prefix,
    pay_for,
    reserve_pages,
    reuse_of,
    room_on_page,
    undone_by_errors,
)
from pie_mlx.engine.handlers.forward.pass_plan import PassPlan, plan_pass
from pie_mlx.engine.handlers.forward.reporting import report_tokens
from pie_mlx.engine.handlers.forward.speculating import DraftedPass, verified
from pie_mlx.engine.handlers.forward.text_readings import mean_of, with_scores
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv import PageStore, WorkingToken
from pie_mlx.engine.market import Horizon
from pie_mlx.engine.model.adapters import NO_ADAPTER, AdapterUse
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.scheduler.forward_task import PassContinuation
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.engine.speculation.drafting import Window
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.events import PassCompleted

NO_HORIZON = Horizon(0.0, 1.0)
"""In an event: the bid was declared."""


@answers(calls.Forward)
async def forward(services: Services, process: HostedProcess, call: calls.Forward) -> calls.ForwardReply:
    context = process.context(call.context)
    context.raise_deferred()
    check_plans(call, services.model_info)
    matchers = process.matchers_of(call.matchers)
    if call.others:
        return await forward_together(services, process, context, call, matchers)
    run_pass = _adapted_pass if call.adapter or call.zo_seed else _pass

    def run(one: calls.Forward, continuation: PassContinuation | None) -> Coroutine[Any, Any, calls.ForwardReply]:
        return run_pass(services, process, context, one, matchers, continuation)

    if call.continuation is None or not call.continuation.asked:
        return await run(call, prefetching(context, call))
    return await run_passes(run, [context], call, call.continuation)


async def _adapted_pass(
    services: Services,
    process: HostedProcess,
    context: LiveContext,
    call: calls.Forward,
    matchers: Sequence[Matcher],
    continuation: PassContinuation | None,
) -> calls.ForwardReply:
    """A pass with the adapter as it is now: each pass of a continuation is a use like any other (A1)."""
    with services.adapters.used(process.username, call.adapter, call.zo_seed) as use:
        return await _pass(services, process, context, call, matchers, continuation, use)


async def _pass(
    services: Services,
    process: HostedProcess,
    context: LiveContext,
    call: calls.Forward,
    matchers: Sequence[Matcher],
    continuation: PassContinuation | None,
    use: AdapterUse = NO_ADAPTER,
) -> calls.ForwardReply:
    async with context.turn:
        context.check_live()
        context.requested_seconds = services.clock()
        if services.rules is not None:
            await services.rules.warm(call.slots)
        await services.queue.restore(context, computes=True)
        jumps = bool(matchers) and may_jump(services, context, call)
        jump = find_jump(services, process, context, call, matchers) if jumps else None
        if continuation is not None:
            continuation.jumps = jumps
        if jump is None:
            reply = await _turn(services, process, context, call, matchers, continuation, use)
        else:
            jumped, forks, count = jump.call(call), jump.run.matchers, len(jump.run.tokens)
            with jump.counted(context, continuation):
                reply = await _turn(services, process, context, jumped, forks, continuation, use, count)
            reply = jump.landed(reply, matchers)
        if matchers and call.advance_slot is not None:
            services.language.grammars.ahead.moved(matchers)
        return reply


async def _turn(
    services: Services,
    process: HostedProcess,
    context: LiveContext,
    call: calls.Forward,
    matchers: Sequence[Matcher],
    continuation: PassContinuation | None,
    use: AdapterUse,
    forced_count: int = 0,
) -> calls.ForwardReply:
    """A pass whose turn it is: plan, compute, report, reply. The last `forced_count` of its inputs are no prompt: a
    grammar left no choice."""
    plan = await plan_pass(services, process, context, call, matchers, continuation, use, forced_count)
    optional = plan.drafted or plan.continuation
    results, match = await pay_for(services, process.account, len(plan.inputs), optional, _compute(services, plan))
    if reads_mean(call):
        results = [mean_of(results)]
    elif len(results) > len(call.slots):
        results = with_scores(call.slots, results)
    reuse = None
    if match.attached or match.miss is not None:
        reuse = reuse_of(services, context, len(plan.inputs) - match.attached, match)
        process.reuse += reuse
    if services.details.tokens:
        report_tokens(services, process, context, plan.held_tokens, plan.inputs, results)
    _report(services, process, plan, match, reuse, finish_reason(call, results))
    if context.reread:
        reuse = (reuse or calls.Reuse()) + calls.Reuse(from_disk=context.reread)
    replayed = match.replayed + context.replayed
    context.replayed = context.reread = 0
    return _reply(services, process, plan, results, match.attached, replayed, reuse)


async def _compute(services: Services, plan: PassPlan) -> tuple[list[calls.AnyResult], PrefixMatch]:
    """Attach, reserve, compute and commit; on any error the context is as it was (E3, E6).

    Returns the results, without those of drafts, and what was attached.
    """
    store, context, call, drafted = services.store, plan.context, plan.call, plan.drafted
    with undone_by_errors(services, context, commits=call.commit):
        counted = append_prefetched(store, context, call, plan.inputs)
        if counted and services.runner.model.recurrent:
            services.runner.model.network.recurrence.seek(context.id, store.sequence_length(context.id))
        cacheable = plan.inputs[: plan.plain_count]
        match = PrefixMatch() if counted else await match_prefix(services, context, call, cacheable, plan.reads)
        present = counted + match.attached
        inputs = plan.inputs[present:]
        if not inputs:
            return [], match
        await reserve_pages(services, context, len(inputs) if call.reserve else 0)
        reads = [_shift(read, len(call.pending) - present) for read in plan.reads]
        window = drafted.window if drafted is not None and drafted.count else None
        if drafted is not None and window is not None:
            inputs = _with_drafts(services, context, call, drafted, inputs, reads)
        _limit_further_steps(store, plan, len(inputs), match.key)
        context.read_tokens, context.prompt_tokens = match.attached, match.attached + len(inputs)
        store.working.rows(context.id, len(inputs))  # raises KvCapacityError before anything is computed
        with services.inflight_prefixes.computing(match.key if call.commit else None, context.id, inputs):
            if services.runner.model.recurrent:
                results = await _run_with_states(services, plan, inputs, cacheable[present:], reads, window)
            else:
                results = await _run(services, plan, inputs, reads, window)
        if drafted is not None:
            if window is None:
                drafted.find_nothing(results)
            results[drafted.slot] = drafted.drawn(results, len(plan.reads))
        return results[: len(plan.reads)], match


async def _run(
    services: Services,
    plan: PassPlan,
    inputs: Sequence[WorkingToken],
    reads: Sequence[LogitsRequest],
    window: Window | None,
) -> list[calls.AnyResult]:
    return await services.queue.run(
        plan.context,
        inputs,
        reads,
        commits=plan.call.commit,
        window=window,
        continuation=plan.continuation,
        forced=min(plan.forced_count, len(inputs) - 1),
    )


async def _run_with_states(
    services: Services,
    plan: PassPlan,
    inputs: Sequence[WorkingToken],
    plain: Sequence[WorkingToken],
    reads: Sequence[LogitsRequest],
    window: Window | None,
) -> list[calls.AnyResult]:
    """The same for a model with recurrent layers: within the `plain` inputs, and at the end, it keeps the states from
    which a later prompt, or this context once it is truncated, may go on."""
    context, store = plan.context, services.store
    committed, before = store.contexts[context.id].committed, services.runner.model.network.state(context.id)
    if plan.call.commit:
        done = await compute_to_checkpoints(services, context, plain, reads)
        inputs, reads = inputs[done:], [_shift(read, -done) for read in reads]
    results = await _run(services, plan, inputs, reads, window) if inputs else []
    if committed != store.contexts[context.id].committed:
        keep_way_back(services, context, before)
    return results


def _with_drafts(
    services: Services,
    context: LiveContext,
    call: calls.Forward,
    drafted: DraftedPass,
    inputs: Sequence[WorkingToken],
    reads: list[LogitsRequest],
) -> list[WorkingToken]:
    """`inputs` with the drafts after them, on pages that no other context waits for; adds the reads of the drafts."""
    store = services.store
    if call.reserve:
        drafted.reserve(store, context.id, len(inputs), services.queue.spare_pages)
    slot = store.sequence_length(context.id) + len(inputs)
    reads += drafted.reads(reads[drafted.slot])
    return [*inputs, *drafted.inputs(inputs[-1], slot)]


def _limit_further_steps(store: PageStore, plan: PassPlan, inputs: int, key: bytes | None) -> None:
    """Where others may wait for the first page, that of `key`, no steps follow; prefetched ones take no new page."""
    continuation = plan.continuation
    if continuation is None:
        return
    if key is not None:
        continuation.trim(0)
    if not continuation.asked:
        continuation.trim(room_on_page(store, plan.context.id, inputs))


def _shift(read: LogitsRequest, by: int) -> LogitsRequest:
    return LogitsRequest(read.index + by, read.read, read.stream, read.counter, read.mask, read.counts, read.watch)


def _report(
    services: Services,
    process: HostedProcess,
    plan: PassPlan,
    match: PrefixMatch,
    reuse: calls.Reuse | None,
    finish: str,
) -> None:
    """Emit the event of a pass that is over; `finish` is why its text ends."""
    context, further = plan.context, plan.further
    expected = context.expected or NO_HORIZON
    guessed, right = (0, 0) if plan.drafted is None else plan.drafted.guesses()
    miss = None if reuse is None else reuse.miss
    services.emit(
        PassCompleted(
            process=process.id,
            context=context.id,
            attached_tokens=match.attached,
            replayed_tokens=match.replayed + context.replayed,
            computed_tokens=len(plan.inputs) - match.attached + further,
            rows_read=len(plan.reads) + further + plan.claimed,
            held_tokens=plan.held_tokens,
            requested_seconds=context.requested_seconds,
            completed_seconds=services.clock(),
            bid=context.bid,
            remaining_tokens=expected.remaining_tokens,
            variation=expected.cv2,
            guessed_tokens=guessed,
            guessed_right=right,
            following=further + plan.claimed,
            forced_tokens=plan.forced_count,
            started_seconds=context.started_seconds,
            miss="" if miss is None else str(miss),
            miss_reason="" if miss is None else miss.reason,
            loaded_tokens=match.loaded,
            restored_tokens=context.replayed,
            batch_contexts=context.batch_contexts,
            finish=finish,
            reread_tokens=context.reread,
        )
    )


def _reply(
    services: Services,
    process: HostedProcess,
    plan: PassPlan,
    results: list[calls.AnyResult],
    attached: int,
    replayed: int,
    reuse: calls.Reuse | None,
) -> calls.ForwardReply:
    """Count what the pass drew, move its grammars, and answer its program."""
    context, call, matchers, drafted, further = plan.context, plan.call, plan.matchers, plan.drafted, plan.further
    prefetched = split_prefetched(context, call, plan.continuation, results, plan.claimed)
    if call.speculation is not None:
        services.drafts.went_on(further)
    for one in plan.resting:
        one.skip(len(prefetched))
    if drafted is not None:
        reply = verified(services, context, call, matchers, drafted, results, attached)
        if context.watch is not None:
            report_drawn(services, process, context, context.watch, drafted=drafted)
        return replace(reply, replayed=replayed, reuse=reuse)
    context.sampled += further + sum([isinstance(slot.read, Sampler) for slot in call.slots])
    if context.watch is not None:
        report_drawn(services, process, context, context.watch)
    terminated = advance(call, matchers, results, plan.continuation)
    counters = services.store.contexts[context.id].counters()
    return calls.ForwardReply(
        results,
        counters,
        terminated,
        attached,
        kept=further,
        prefetched=prefetched,
        replayed=replayed,
        reuse=reuse,
    )
