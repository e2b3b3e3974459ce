"""Contexts that hold a prompt, ready to generate on."""

from inferlet import Context, Model, runtime
from wire.refusals import Refusal

ROOMY_TOKEN = 16
"""Characters of a token: far more than most tokens have."""


def load_model(name, template=None):
    """A model, with variables of its chat template. Raises Refusal for an unknown model."""
    try:
        return Model.load(name, template=template)
    except Exception as error:
        if getattr(error, "code", "") == "model_not_found":
            raise Refusal.unknown_model(name, runtime.models()) from None
        raise


def load_with_variables(request, terms):
    """The model of a ChatRequest, with its reasoning effort and template variables. Raises Refusal."""
    model, variables = load_model(request.model), request.chat_template_kwargs
    if request.reasoning_effort is not None:
        variables = {**_thinking(request.reasoning_effort, model.template_variables, terms.effort), **variables}
    unknown = sorted(variables.keys() - set(model.template_variables))
    if unknown:
        known = ", ".join(model.template_variables) or "none"
        text = f"the chat template of {model.name} reads no '{unknown[0]}': it reads {known}"
        raise Refusal(400, text, param=f"chat_template_kwargs.{unknown[0]}")
    return load_model(request.model, variables) if variables else model


def _thinking(effort, variables, param):
    if "reasoning_effort" in variables:
        return {"reasoning_effort": effort}
    if "enable_thinking" in variables:
        return {"enable_thinking": effort != "none"}
    raise Refusal(400, "the model's chat template has no variable for it: leave it out", param=param)


def encoded(model, text, param):
    """The tokens of a text. Raises Refusal for a text whose beginning already has more than the model reads."""
    tokenizer, limit = model.tokenizer(), model.info.maximum_positions
    if len(text) > (longest := ROOMY_TOKEN * limit):
        check_fits(model, len(tokenizer.encode(text[:longest], begins=True)), param, "at least ")
    return tokenizer.encode(text, begins=True)


def checked_length(context, param):
    """The number of tokens of the prompt in the buffer. Raises Refusal for none, and for more than the model reads."""
    count = len(context.buffer())
    if count == 0:
        raise Refusal(400, f"{param}: it is empty", param=param)
    check_fits(context.model, count, param)
    return count


def check_fits(model, count, param, precision=""):
    """Raises Refusal for a prompt of more tokens than the model reads."""
    limit = model.info.maximum_positions
    if count >= limit:
        raise Refusal(
            400,
            f"This model's maximum context length is {limit} tokens, the prompt alone has {precision}{count}",
            param=param,
            code="context_length_exceeded",
        )


async def copies(context, count, costs):
    """`count` contexts with the prompt of this one, which is computed once; its last token is in their buffers."""
    if count == 1:
        return [context]
    tokens, shared = context.buffer(), Context(context.model)
    if tokens[:-1]:
        passed = await shared.forward().input(tokens[:-1]).execute()
        costs.cached_tokens += passed.raw.attached
    return [shared.fork().append(tokens[-1:]) for _ in range(count)]
