"""The counts of a context's tokens for samplers with penalties (L7)."""

from pie_mlx.engine.handlers.forward.forward_request import ForwardRequest
from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.model.runner.token_counts import CountedText, TokenCounts
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.errors import InvalidArgumentError


def counted(store: PageStore, context: LiveContext, request: ForwardRequest, since: int, index: int) -> TokenCounts:
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
