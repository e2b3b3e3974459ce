"""Contexts that hold a prompt, ready to generate on."""

from inferlet import Context, Model, runtime
from wire.refusals import Refusal

ROOMY_TOKEN = 16
"""Characters of a token, many more than there are in most."""


def load_model(name, template=None):
    """A model, told the variables of its chat template. Raises Refusal for one that is not there."""
    try:
        return Model.load(name, template=template)
    except Exception as error:
        if getattr(error, "code", "") == "model_not_found":
            raise Refusal.unknown_model(name, runtime.models()) from None
        raise


def load_told(request, terms):
    """The model of a ChatRequest, told how much to think and what else is for its template. Raises Refusal."""
    model, told = load_model(request.model), request.chat_template_kwargs
    if request.reasoning_effort is not None:
        told = {**_thinking(request.reasoning_effort, model.template_variables, terms.effort), **told}
    unknown = sorted(told.keys() - set(model.template_variables))
    if unknown:
        known = ", ".join(model.template_variables) or "none"
        text = f"the chat template of {model.name} reads no '{unknown[0]}': it reads {known}"
        raise Refusal(400, text, param=f"chat_template_kwargs.{unknown[0]}")
    return load_model(request.model, told) if told else model


def _thinking(effort, variables, param):
    if "reasoning_effort" in variables:
        return {"reasoning_effort": effort}
    if "enable_thinking" in variables:
        return {"enable_thinking": effort != "none"}
    raise Refusal(400, "the model's chat template cannot be told how much to think: leave it out", param=param)


def encoded(model, text, param):
    """The tokens of a text. Raises Refusal for one whose beginning has more than the model takes."""
    tokenizer, limit = model.tokenizer(), model.info.maximum_positions
    if len(text) > (longest := ROOMY_TOKEN * limit):
        check_fits(model, len(tokenizer.encode(text[:longest])), param, "at least ")
    return tokenizer.encode(text)


def checked_length(context, param):
    """The tokens of the prompt in the buffer. Raises Refusal for none, and for more than the model takes."""
    count = len(context.buffer())
    if count == 0:
        raise Refusal(400, f"{param}: it is empty", param=param)
    check_fits(context.model, count, param)
    return count


def check_fits(model, count, param, precision=""):
    """Raises Refusal for a prompt of more tokens than the model takes."""
    limit = model.info.maximum_positions
    if count >= limit:
        raise Refusal(
            400,
            f"This model's maximum context length is {limit} tokens, the prompt alone has {precision}{count}",
            param=param,
            code="context_length_exceeded",
        )


async def copies(context, count, account):
    """`count` contexts with the prompt of this one, which is computed once. The last token waits in their buffers."""
    if count == 1:
        return [context]
    tokens, shared = context.buffer(), Context(context.model)
    if tokens[:-1]:
        passed = await shared.forward().input(tokens[:-1]).execute()
        account.cached_tokens += passed.raw.attached
    return [shared.fork().append(tokens[-1:]) for _ in range(count)]
