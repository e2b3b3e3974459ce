"""Contexts that hold a prompt, ready to generate on."""

from inferlet import Context, Model, runtime
from refusals import Refusal


def load_model(name):
    """Raises Refusal for one that is not there."""
    try:
        return Model.load(name)
    except Exception as error:
        if getattr(error, "code", "") == "model_not_found":
            raise Refusal.unknown_model(name, runtime.models()) from None
        raise


def checked_length(context, param):
    """The tokens of the prompt in the buffer. Raises Refusal for none, and for more than the model takes."""
    count, limit = len(context.buffer()), context.model.info.maximum_positions
    if count == 0:
        raise Refusal(400, f"{param}: it is empty", param=param)
    if count >= limit:
        raise Refusal(
            400,
            f"This model's maximum context length is {limit} tokens, the prompt alone has {count}",
            param=param,
            code="context_length_exceeded",
        )
    return count


async def copies(context, count, account):
    """`count` contexts with the prompt of this one, which is computed once. The last token waits in their buffers."""
    if count == 1:
        return [context]
    tokens, shared = context.buffer(), Context(context.model)
    if tokens[:-1]:
        passed = await shared.forward().input(tokens[:-1]).execute()
        account.cached_tokens += passed.raw.attached
    return [shared.fork().append(tokens[-1:]) for _ in range(count)]
