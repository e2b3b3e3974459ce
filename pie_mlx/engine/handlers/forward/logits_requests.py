"""What the runner is asked to read for a pass, and what of it becomes the pass's results."""

from collections.abc import Sequence

import numpy as np

from pie_mlx.calls import AnyResult, Forward, HiddenMean, HiddenStateValues, Sampler
from pie_mlx.engine.handlers.forward.forward_request import ForwardRequest
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.model.runner.batch import LogitsRequest, PackedMask
from pie_mlx.engine.model.runner.token_counts import CountedText, TokenCounts
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.errors import InvalidArgumentError


def requests(
    store: PageStore,
    context: LiveContext,
    call: Forward,
    request: ForwardRequest,
    mask: PackedMask | None,
    claimed: int,
) -> list[LogitsRequest]:
    """What to read, with random streams: the counter is the tokens drawn so far plus the rank in this pass (L6).
    The mean of hidden states is one request for each input that it is of.

    Raises InvalidArgumentError for a sampler that counts from a slot behind its row.
    """
    if reads_mean(call):
        return _mean_requests(call)
    reads: list[LogitsRequest] = []
    counter = context.sampled + claimed
    for slot in call.slots:
        if isinstance(slot.read, Sampler):
            stream = context.stream if slot.read.seed is None else slot.read.seed
            counts = None
            if slot.read.counts_tokens:
                counts = _counted(store, context, request, slot.read.since or 0, slot.index)
            reads.append(LogitsRequest(slot.index, slot.read, stream, counter, mask, counts))
            counter += 1
        else:
            reads.append(LogitsRequest(slot.index, slot.read))
    return reads


def reads_mean(call: Forward) -> bool:
    """Whether a pass reads the mean of its hidden states, and nothing else."""
    return len(call.slots) == 1 and isinstance(call.slots[0].read, HiddenMean)


def _counted(store: PageStore, context: LiveContext, request: ForwardRequest, since: int, index: int) -> TokenCounts:
    """The counts of the text up to input `index` of a pass, of which the tokens from slot `since` on were generated.

    What the context holds is counted once, and only moved on from pass to pass. Raises InvalidArgumentError for a
    `since` behind that input.
    """
    held, inputs = (
        store.sequence_length(context.id),
        [one.token for one in request.inputs[: request.own_start + index + 1]],
    )
    if since > held + len(inputs):
        raise InvalidArgumentError(
            f"sampler: since {since} lies behind the text of {held + len(inputs)} tokens",
            hint="name the slot of the first generated token, or leave it to the Generator",
        )
    known = context.counted
    if known is None or known.since != since or known.length > held:
        known = CountedText(since)
    context.counted = known.up_to(held, lambda count: store.last_tokens(context.id, count))
    return context.counted.behind(inputs)


def _mean_requests(call: Forward) -> list[LogitsRequest]:
    """One read for each input that the mean is of; it is one sum, as the same probe is in all of them."""
    probe = HiddenMean()
    return [LogitsRequest(index, probe) for index in range(call.slots[0].index, len(call.tokens))]


def mean_of(results: Sequence[AnyResult]) -> AnyResult:
    """The mean, from the sums of the chunks."""
    sums = [one.values for one in results if isinstance(one, HiddenStateValues) and one.values]
    return HiddenStateValues((np.sum(np.array(sums), axis=0) / len(results)).astype(np.float32).tolist())
