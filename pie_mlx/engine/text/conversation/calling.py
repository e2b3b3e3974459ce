"""Tool calls of past replies, as the model's template writes them in a history."""

import re
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from pie_mlx.calls import ParsedToolCall
from pie_mlx.engine.text.conversation.fragments import Fragments, message
from pie_mlx.engine.text.conversation.sentinels import RESULTS, USERS, call_id
from pie_mlx.engine.text.templates.template import ChatTemplate, Message
from pie_mlx.errors import InvalidArgumentError, TemplateError

TOOL_NAME = re.compile(r"[\w.\-]{1,128}")


def calling_turn(
    template: ChatTemplate, fragments: Fragments, ends: Sequence[str], text: str, calls: Sequence[ParsedToolCall]
) -> str:
    """The whole turn of an assistant that said `text` and made `calls`; `ends` are texts that end a turn.

    Raises InvalidArgumentError for arguments that are no JSON object, TemplateError for a template without calls, or
    with fewer in a turn.
    """
    asked = [_call(place, call) for place, call in enumerate(calls)]
    turn = _turn(template, fragments, ends, text, asked)
    if not all(call.name in turn for call in calls):
        raise TemplateError("chat template: writes no tool calls", hint="use a model that was trained on tools")
    if len(calls) > 1 and turn == _turn(template, fragments, ends, text, asked[:-1]):
        raise TemplateError(
            f"chat template: writes fewer than {len(calls)} tool calls in a turn", hint="give one a turn"
        )
    return turn


def _turn(
    template: ChatTemplate, fragments: Fragments, ends: Sequence[str], text: str, asked: Sequence[Message]
) -> str:
    """The turn up to its end, as the template writes it when results follow: some write a last turn differently."""
    turns = [message("user", USERS[0]), {**message("assistant", text), "tool_calls": list(asked)}]
    for following in ([_result(call) for call in asked], []):
        with suppress(TemplateError):
            rendered = template.render([*turns, *following]).partition(USERS[0])[2].removeprefix(fragments.user_suffix)
            found = [(rendered.index(end), end) for end in ends if end and end in rendered]
            if found:
                at, end = min(found)
                return rendered[:at] + (end if fragments.seal else "")
    return template.render(turns).partition(USERS[0])[2].removeprefix(fragments.user_suffix) + fragments.seal


def _result(call: Message) -> Message:
    return {"role": "tool", "name": call["function"]["name"], "tool_call_id": call["id"], "content": RESULTS[0]}


def _call(place: int, call: ParsedToolCall) -> Message:
    if not TOOL_NAME.fullmatch(call.name):
        raise InvalidArgumentError(
            f"tool call: {call.name!r} is no name of a tool", hint="names have letters, digits, _, . and -"
        )
    return {"type": "function", "id": call_id(place), "function": {"name": call.name, "arguments": _arguments(call)}}


def _arguments(call: ParsedToolCall) -> object:
    try:
        found: object = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgumentError(f"tool call {call.name!r}: arguments are not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidArgumentError(f"tool call {call.name!r}: arguments are no JSON object")
    return found  # pyright: ignore[reportUnknownVariableType]
