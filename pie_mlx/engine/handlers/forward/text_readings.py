"""What is read of a whole text: the counts of its tokens for penalties (L7), the mean of its hidden states (L8)."""

from collections.abc import Sequence

import numpy as np

from pie_mlx.calls import AnyResult, HiddenMean, HiddenStateValues
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
    """One for each input from `first` on; they are one sum, as the same probe is in all of them."""
    probe = HiddenMean()
    return [LogitsRequest(index, probe) for index in range(first, end)]


def mean_of(results: Sequence[AnyResult]) -> AnyResult:
    """The mean, from the sums of the chunks."""
    sums = [one.values for one in results if isinstance(one, HiddenStateValues) and one.values]
    return HiddenStateValues((np.sum(np.array(sums), axis=0) / len(results)).astype(np.float32).tolist())
