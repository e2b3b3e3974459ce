"""Messages of a request, written into a context."""

from itertools import groupby

from wire.fields import Assistant, Developer, System, Tool, User
from wire.refusals import Refusal

from generation.prompts import check_fits


def write_messages(context, messages, schemas, terms):
    """Write everything up to the model's turn. Raises Refusal, and the engine's TemplateError."""
    try:
        _write_all(context, messages, schemas, terms)
    except Exception as error:
        if getattr(error, "code", "") != "context_length":
            raise
        raise Refusal(400, str(error), param=terms.messages, code="context_length_exceeded") from None


def _write_all(context, messages, schemas, terms):
    if schemas:
        context.equip_tools(schemas)
    names = {}
    for are_results, run in groupby(enumerate(messages), lambda placed: isinstance(placed[1], Tool)):
        if are_results:
            _write_results(context, list(run), names, terms)
            continue
        for _, message in run:
            _write(context, message)
            _add_calls(names, message)
            check_fits(context.model, len(context.buffer()), terms.messages, "at least ")
    context.cue()


def _write(context, message):
    match message:
        case System(content=content) | Developer(content=content):
            context.system(plain_text(content))
        case User(content=content):
            context.user(plain_text(content))
        case Assistant():
            text = plain_text(message.content or message.refusal or "")
            calls = [(call.function.name, call.function.arguments) for call in message.tool_calls or []]
            context.assistant(text, calls)


def _add_calls(names, message):
    """Record the tool of each call, in order. A call with the id of an earlier one replaces it."""
    for call in getattr(message, "tool_calls", None) or []:
        names.pop(call.id, None)
        names[call.id] = call.function.name


def _write_results(context, run, names, terms):
    """Write successive results in the order of their calls, because many templates show the model no ids."""
    for place, result in run:
        _check(result, names, terms.message(place), terms)
    order = {call: place for place, call in enumerate(names)}
    for _, result in sorted(run, key=lambda placed: order[placed[1].tool_call_id]):
        context.answer_tool(names[result.tool_call_id], plain_text(result.content))
        check_fits(context.model, len(context.buffer()), terms.messages, "at least ")


def _check(result, names, path, terms):
    call = result.tool_call_id
    if call not in names:
        text = f"no message before this one makes the tool call '{call}': give the id of the call it answers"
        raise Refusal(400, text, param=f"{path}.{terms.call}")
    if result.name not in (None, names[call]):
        text = f"the tool call '{call}' is one of '{names[call]}', not of '{result.name}': leave the name out"
        raise Refusal(400, text, param=f"{path}.name")


def plain_text(content):
    """The text of a message; its parts can only be text."""
    return content if isinstance(content, str) else "".join(part.text for part in content)
