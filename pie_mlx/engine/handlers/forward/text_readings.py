"""What is read of several inputs at once: the counts of a text's tokens for penalties (L7), the mean of its hidden
states (L8), the attention of its last inputs (L10)."""

from collections.abc import Sequence

import msgspec
import numpy as np

from pie_mlx.calls import AnyResult, AttentionScores, AttentionScoreValues, HiddenMean, HiddenStateValues, Slot
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.model.token_counts import CountedText, TokenCounts
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.errors import InvalidArgumentError


def counted(store: PageStore, context: LiveContext, inputs: Sequence[int], since: int) -> TokenCounts:
    """The counts of what a context holds with `inputs` after it, where the tokens from slot `since` on were generated.

    What the context holds is counted once, and only moved on from pass to pass. Raises InvalidArgumentError for a
    `since` after all of that.
    """
    held = store.sequence_length(context.id)
    if since > held + len(inputs):
        raise InvalidArgumentError(
            f"sampler: since {since} lies beyond the text of {held + len(inputs)} tokens",
            hint="name the slot of the first generated token, or leave it to the Generator",
        )
    known = context.counted
    if known is None or known.since != since or known.length > held:
        known = CountedText(since)
    context.counted = known.up_to(held, lambda count: store.last_tokens(context.id, count))
    return context.counted.after(inputs)


def mean_requests(first: int, end: int) -> list[LogitsRequest]:
    """One request for each input from `first` on. All have the same probe, so that the device adds them up."""
    probe = HiddenMean()
    return [LogitsRequest(index, probe) for index in range(first, end)]


def mean_of(results: Sequence[AnyResult]) -> AnyResult:
    """The mean, from the sums of the chunks."""
    sums = [one.values for one in results if isinstance(one, HiddenStateValues) and one.values]
    return HiddenStateValues((np.sum(np.array(sums), axis=0) / len(results)).astype(np.float32).tolist())


def score_requests(slot: Slot, probe: AttentionScores) -> tuple[LogitsRequest, list[LogitsRequest]]:
    """The request at the slot's input, and those at the inputs before it. A batch has one sum per probe object, so the
    probe is copied for this pass."""
    own = msgspec.structs.replace(probe)
    others = range(slot.index - probe.rows + 1, slot.index)
    return LogitsRequest(slot.index, own), [LogitsRequest(index, own) for index in others]


def with_scores(slots: Sequence[Slot], results: Sequence[AnyResult]) -> list[AnyResult]:
    """One result per slot: attention scores, which are spread over several results, are added up."""
    parts = [one for one in results if isinstance(one, AttentionScoreValues) and one.groups]
    read = [isinstance(slot.read, AttentionScores) for slot in slots]
    return [_sum_of(parts) if scores else one for scores, one in zip(read, results, strict=False)]


def _sum_of(parts: Sequence[AttentionScoreValues]) -> AttentionScoreValues:
    """The scores of all chunks added up; earlier chunks have fewer pages."""
    given = [np.frombuffer(part.data, np.float32).reshape(part.groups, -1) for part in parts]
    total = np.zeros(max(scores.shape for scores in given), np.float32)
    for scores in given:
        total[:, : scores.shape[1]] += scores
    return AttentionScoreValues(len(total), total.tobytes())
