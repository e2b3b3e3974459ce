"""One forward pass: check it, attach what is cached, compute the rest, commit."""

from collections.abc import Coroutine, Sequence
from typing import Any

from msgspec.structs import replace

from pie_mlx import calls
from pie_mlx.calls import Sampler
from pie_mlx.engine.handlers.base import answers
from pie_mlx.engine.handlers.forward.checkpointing import compute_to_checkpoints, keep_way_back
from pie_mlx.engine.handlers.forward.continuation import (
    advance,
    claimed_tokens,
    count_in,
    finish_of,
    limit_steps,
    may_go_on,
    prefetching,
    run_passes,
    split_prefetched,
)
from pie_mlx.engine.handlers.forward.drawn_tokens import tell_drawn
from pie_mlx.engine.handlers.forward.engine_drafts import foresight_of
from pie_mlx.engine.handlers.forward.forward_request import (
    check_plans,
    checked_inputs,
    plain_inputs,
    reads_mean,
    requests,
)
from pie_mlx.engine.handlers.forward.gang_pass import forward_together
from pie_mlx.engine.handlers.forward.jumping import find_jump, may_jump
from pie_mlx.engine.handlers.forward.pass_pages import (
    PrefixMatch,
    match_prefix,
    paid,
    reserve_pages,
    room_on_page,
    told_reuse,
    undone_by_errors,
)
from pie_mlx.engine.handlers.forward.reporting import report_tokens
from pie_mlx.engine.handlers.forward.speculating import DraftedPass, plan_drafts, verified
from pie_mlx.engine.handlers.forward.text_readings import mean_of, with_scores
from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.market import Horizon, declared_horizon
from pie_mlx.engine.model.adapters import NO_ADAPTER, AdapterUse
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.scheduler.forward_task import PassContinuation, freedom_of
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.engine.speculation.drafting import DraftRow
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.logit_mask import allowed_next
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
        requested_seconds = services.clock()
        await services.queue.restore(context, computes=True)
        jumps = bool(matchers) and may_jump(services, context, call)
        jump = find_jump(services, process, context, call, matchers) if jumps else None
        if continuation is not None:
            continuation.jumps = jumps
        if jump is None:
            reply = await _turn(services, process, context, call, matchers, continuation, use, requested_seconds)
        else:
            further, bound, count = jump.call(call), jump.run.matchers, len(jump.run.tokens)
            with jump.counted(context, continuation):
                reply = await _turn(
                    services, process, context, further, bound, continuation, use, requested_seconds, count
                )
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
    requested_seconds: float,
    forced: int = 0,
) -> calls.ForwardReply:
    """A pass whose turn it is. The last `forced` of its inputs are no prompt: its grammars left no choice."""
    claimed = claimed_tokens(context, call)
    length = services.store.sequence_length(context.id)
    inputs, fixed = await checked_inputs(services, process, context, call, length, use)
    if call.horizon is not None:
        services.rebid(process, context, declared_horizon(*call.horizon))
    free = freedom_of(matchers)
    bound = () if free.tokens else matchers
    mask = allowed_next(bound, fixed) if bound or fixed is not None else None
    reads = requests(services.store, context, call, inputs, mask, claimed)
    drafted, resting = None, ()
    if call.speculation is not None:
        row = DraftRow(matchers, mask)
        drafted, resting = await plan_drafts(services, context, call, call.speculation, inputs, reads, row, fixed)
    if drafted is not None or not may_go_on(call, matchers):
        continuation = None
    if continuation is not None:
        continuation.restrict(bound, fixed, free)
        if call.speculation is not None:
            continuation.foresees = foresight_of(services, context, call.speculation.source, matchers)
        if resting and not continuation.asked:
            continuation.trim(min([one.left for one in resting]))
        limit_steps(services, continuation, claimed, length + len(inputs))
    plain = plain_inputs(call, length)
    work = _run(services, context, call, inputs, plain, reads, drafted, continuation, forced)
    results, match = await paid(services, process.account, len(inputs), drafted or continuation, work)
    if reads_mean(call):
        results = [mean_of(results)]
    elif len(results) > len(call.slots):
        results = with_scores(call.slots, results)
    attached, further = match.attached, 0 if continuation is None else continuation.kept
    restored, context.replayed = context.replayed, 0
    reread, context.reread = context.reread, 0
    replayed = match.replayed + restored
    computed = len(inputs) - attached
    counts = (length, attached, match.loaded, replayed, restored, reread, computed + further)
    rows = len(reads) + further + claimed
    reuse = None
    if match.attached or match.miss is not None:
        reuse = told_reuse(services, context, computed, match)
        process.reuse += reuse
    if services.details.tokens:
        report_tokens(services, process, context, length, inputs, results)
    finish = finish_of(call, results)
    steps = further + claimed
    _tell(services, process, context, counts, rows, drafted, steps, forced, requested_seconds, reuse, finish)
    if reread:
        reuse = (reuse or calls.Reuse()) + calls.Reuse(from_disk=reread)
    prefetched = split_prefetched(context, call, continuation, results, claimed)
    if call.speculation is not None:
        services.drafts.went_on(further)
    for one in resting:
        one.skip(len(prefetched))
    if drafted is not None:
        reply = verified(services, context, call, matchers, drafted, results, attached)
        if context.watch is not None:
            tell_drawn(services, process, context, context.watch, drafted=drafted)
        return replace(reply, replayed=replayed, reuse=reuse)
    context.sampled += further + sum([isinstance(slot.read, Sampler) for slot in call.slots])
    if context.watch is not None:
        tell_drawn(services, process, context, context.watch)
    terminated = advance(call, matchers, results, continuation)
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


async def _run(
    services: Services,
    context: LiveContext,
    call: calls.Forward,
    inputs: Sequence[WorkingToken],
    plain: int,
    reads: Sequence[LogitsRequest],
    drafted: DraftedPass | None,
    continuation: PassContinuation | None,
    forced: int,
) -> tuple[list[calls.AnyResult], PrefixMatch]:
    """Attach, reserve, compute and commit; on any error the context is as it was (E3, E6).

    Answers the results, without those of drafts, and what was attached.
    """
    with undone_by_errors(services, context, commits=call.commit):
        counted = count_in(services.store, context, call, inputs)
        if counted and services.runner.model.recurrent:
            recurrence = services.runner.model.network.recurrence
            recurrence.seek(context.id, services.store.sequence_length(context.id))
        match = PrefixMatch() if counted else await match_prefix(services, context, call, inputs[:plain], reads)
        attached, key = match.attached, match.key
        inputs = inputs[counted + attached :]
        if not inputs:
            return [], match
        await reserve_pages(services, context, len(inputs) if call.reserve else 0)
        shifted, window = [_shift(read, len(call.pending) - counted - attached) for read in reads], None
        if drafted is not None and drafted.count:
            window = drafted.window
            inputs = _with_drafts(services, context, call, drafted, inputs, shifted)
        if continuation is not None and key is not None:
            continuation.trim(0)  # others may wait for these pages
        if continuation is not None and not continuation.asked:
            continuation.trim(room_on_page(services.store, context.id, len(inputs)))
        context.read_tokens, context.prompt_tokens = attached, attached + len(inputs)
        services.store.working.rows(context.id, len(inputs))  # raises KvCapacityError before anything is computed
        recurrent, committed = services.runner.model.recurrent, services.store.contexts[context.id].committed
        before = services.runner.model.network.state(context.id) if recurrent else None
        with services.inflight_prefixes.computing(key if call.commit else None, context.id, inputs):
            if recurrent and call.commit:
                done = await compute_to_checkpoints(services, context, inputs[: plain - counted - attached], shifted)
                inputs, shifted = inputs[done:], [_shift(read, -done) for read in shifted]
            results: list[calls.AnyResult] = []
            if inputs:
                results = await services.queue.run(
                    context,
                    inputs,
                    shifted,
                    commits=call.commit,
                    window=window,
                    continuation=continuation,
                    forced=min(forced, len(inputs) - 1),
                )
        if recurrent and committed != services.store.contexts[context.id].committed:
            keep_way_back(services, context, before)
        if drafted is not None and window is None:
            drafted.find_nothing(results)
        if drafted is not None:
            results[drafted.slot] = drafted.drawn(results, len(reads))
        return results[: len(reads)], match


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


def _shift(read: LogitsRequest, by: int) -> LogitsRequest:
    return LogitsRequest(read.index + by, read.read, read.stream, read.counter, read.mask, read.counts, read.watch)


def _tell(
    services: Services,
    process: HostedProcess,
    context: LiveContext,
    counts: tuple[int, int, int, int, int, int, int],
    rows: int,
    drafted: DraftedPass | None,
    further: int,
    forced: int,
    requested_seconds: float,
    reuse: calls.Reuse | None,
    finish: str,
) -> None:
    """`counts`: tokens held before the pass, attached, of these loaded, replayed by it, of these lost before it, read
    from disk before it, and computed; `further` passes followed. `finish` is that of the event."""
    held, attached, loaded, replayed, restored, reread, computed = counts
    expected = context.expected or NO_HORIZON
    guessed, right = (0, 0) if drafted is None else drafted.guesses()
    miss = None if reuse is None else reuse.miss
    services.emit(
        PassCompleted(
            process=process.id,
            context=context.id,
            attached_tokens=attached,
            replayed_tokens=replayed,
            computed_tokens=computed,
            rows_read=rows,
            held_tokens=held,
            requested_seconds=requested_seconds,
            completed_seconds=services.clock(),
            bid=context.bid,
            remaining_tokens=expected.remaining_tokens,
            variation=expected.cv2,
            guessed_tokens=guessed,
            guessed_right=right,
            following=further,
            forced_tokens=forced,
            started_seconds=context.started_seconds,
            miss="" if miss is None else str(miss),
            miss_reason="" if miss is None else miss.reason,
            loaded_tokens=loaded,
            restored_tokens=restored,
            batch_contexts=context.batch_contexts,
            finish=finish,
            reread_tokens=reread,
        )
    )
