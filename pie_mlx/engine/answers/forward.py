"""One forward pass: check it, attach what is cached, compute the rest, commit."""

from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

from pie_mlx import calls
from pie_mlx.calls import Sampler
from pie_mlx.engine.answers.base import answers
from pie_mlx.engine.forward_request import ForwardRequest, read_request
from pie_mlx.engine.live_context import LiveContext
from pie_mlx.engine.logit_mask import intersect, pack_runs
from pie_mlx.engine.market import Horizon
from pie_mlx.engine.model.batch import PackedMask, RowRead
from pie_mlx.engine.process import Process
from pie_mlx.engine.services import Services
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.errors import TokenBudgetError
from pie_mlx.events import PassCompleted

T = TypeVar("T")

NO_HORIZON = Horizon(0.0, 1.0)
"""In an event: the bid was declared."""


@answers(calls.Forward)
async def forward(services: Services, process: Process, call: calls.Forward) -> calls.ForwardReply:
    context = process.context(call.context)
    matchers = [process.matcher(number) for number in call.matchers]
    async with context.turn:
        context.check_live()
        requested_seconds = services.clock()
        await services.ticker.restore(context)
        if call.horizon is not None:
            services.rebid(process, context, Horizon(*call.horizon))
        length = services.store.sequence_length(context.id)
        request = read_request(call, length, services.model_info)
        mask = _logit_mask(services, call, matchers)
        reads = _reads(context, call.slots, mask)
        results, computed = await _paid(
            services, process, len(request.inputs), _run(services, context, call, request, reads)
        )
        attached = len(request.inputs) - computed
        counts = (length, attached, computed, len(reads))
        _tell(services, process, context, counts, requested_seconds)
        context.sampled += sum(isinstance(slot.read, Sampler) for slot in call.slots)
        terminated = _advance(call, matchers, results)
        return calls.ForwardReply(results, services.store.counters(context.id), terminated, attached)


async def _paid(services: Services, process: Process, tokens: int, work: Coroutine[Any, Any, T]) -> T:
    """Run a pass of `tokens` inputs on the process's token wallet; a failed one costs nothing (M3)."""
    try:
        reservation = services.bank.reserve_tokens(process.account, tokens)
    except TokenBudgetError:
        work.close()
        raise
    appended = 0
    try:
        results = await work
        appended = tokens
        return results
    finally:
        services.bank.settle_tokens(process.account, reservation, appended)


def _logit_mask(services: Services, call: calls.Forward, matchers: Sequence[Matcher]) -> PackedMask | None:
    """What every mask of the pass allows, None for everything. Raises EmptyMaskError before anything runs (F9)."""
    vocabulary = services.model_info.vocabulary_size
    masks = [mask for matcher in matchers if (mask := matcher.packed_mask()) is not None]
    names = [f"grammar {number}" for number in range(len(masks))]
    if call.logit_mask:
        masks.append(pack_runs(call.logit_mask, vocabulary))
        names.append("the logit mask")
    return intersect(masks, names=names)


def _reads(context: LiveContext, slots: Sequence[calls.Slot], mask: PackedMask | None) -> list[RowRead]:
    """Row reads with their random stream: the counter is the tokens drawn so far plus the rank in this pass (L6)."""
    reads: list[RowRead] = []
    counter = context.sampled
    for slot in slots:
        if isinstance(slot.read, Sampler):
            stream = context.stream if slot.read.seed is None else slot.read.seed
            reads.append(RowRead(slot.index, slot.read, stream, counter, mask))
            counter += 1
        else:
            reads.append(RowRead(slot.index, slot.read))
    return reads


async def _run(
    services: Services,
    context: LiveContext,
    call: calls.Forward,
    request: ForwardRequest,
    reads: Sequence[RowRead],
) -> tuple[list[calls.AnyResult], int]:
    """Attach, reserve, compute and commit; on any error the context is as it was (E3, E6).

    Answers the results and how many of the inputs were computed.
    """
    store = services.store
    mark = store.mark(context.id)
    try:
        attached = _attach(services, context, call, request)
        inputs = request.inputs[attached:]
        results: list[calls.AnyResult] = []
        if inputs:
            if call.reserve:
                lacking = store.pages_lacking(context.id, len(inputs))
                await services.ticker.take(context, lacking, lambda: store.reserve(context.id, lacking))
            store.next_slots(context.id, len(inputs))  # raises KvCapacityError before anything is computed
            shifted = [_shift(read, request.own_start - attached) for read in reads]
            results = await services.ticker.run(context, inputs, shifted, commits=call.commit)
    except BaseException:
        services.ticker.rollback(context, mark)
        raise
    return results, len(inputs)


def _tell(
    services: Services,
    process: Process,
    context: LiveContext,
    counts: tuple[int, int, int, int],
    requested_seconds: float,
) -> None:
    """`counts`: tokens held before the pass, attached and computed by it, and rows read."""
    held, attached, computed, read = counts
    expected = context.expected or NO_HORIZON
    services.emit(
        PassCompleted(
            process=process.id,
            context=context.id,
            attached_tokens=attached,
            computed_tokens=computed,
            rows_read=read,
            held_tokens=held,
            requested_seconds=requested_seconds,
            completed_seconds=services.clock(),
            bid=context.bid,
            remaining_tokens=expected.remaining_tokens,
            variation=expected.cv2,
        )
    )


def _attach(services: Services, context: LiveContext, call: calls.Forward, request: ForwardRequest) -> int:
    """Attach cached pages; answers how many of the inputs they cover (K5, K6)."""
    if not call.reserve or services.runner.model.recurrent or not request.plain:
        return 0
    first_read = min((slot.index for slot in call.slots), default=None)
    limit = None if first_read is None else request.own_start + first_read
    tokens = [record.token for record in request.inputs[: request.plain]]
    return services.store.attach_cached(context.id, tokens, limit=limit)


def _shift(read: RowRead, by: int) -> RowRead:
    return RowRead(read.index + by, read.read, read.stream, read.counter, read.mask)


def _advance(call: calls.Forward, matchers: Sequence[Matcher], results: Sequence[calls.AnyResult]) -> bool:
    """Feed the sampled token to the matchers; whether one of them has terminated (G13)."""
    if call.advance_slot is not None:
        sampled = results[call.advance_slot]
        if isinstance(sampled, calls.SampledTokens):
            for matcher in matchers:
                matcher.accept(sampled.tokens)
    return any(matcher.is_terminated for matcher in matchers)
