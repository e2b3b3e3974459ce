"""Tool calls of past replies, as the model's template writes them in a history."""

import re
from collections.abc import Sequence

import msgspec

from pie_mlx.calls import ParsedToolCall
from pie_mlx.engine.text.fragments import Fragments, message
from pie_mlx.engine.text.sentinels import USERS
from pie_mlx.engine.text.template import ChatTemplate, Message
from pie_mlx.errors import InvalidArgumentError, TemplateError

_NAME = re.compile(r"[\w.\-]{1,128}")


def calling_turn(
    template: ChatTemplate, fragments: Fragments, ends: Sequence[str], text: str, calls: Sequence[ParsedToolCall]
) -> str:
    """The whole turn of an assistant that said `text` and made `calls`; `ends` are texts that end a turn.

    Raises InvalidArgumentError for arguments that are no JSON object, TemplateError for a template without calls.
    """
    asked: Message = {**message("assistant", text), "tool_calls": [_call(i, call) for i, call in enumerate(calls)]}
    rendered = template.render([message("user", USERS[0]), asked])
    turn = rendered.partition(USERS[0])[2].removeprefix(fragments.user_suffix)
    if not all(call.name in turn for call in calls):
        raise TemplateError("chat template: writes no tool calls", hint="use a model that was trained on tools")
    at, end = min(((turn.index(end), end) for end in ends if end and end in turn), default=(len(turn), fragments.seal))
    return turn[:at] + end


def _call(place: int, call: ParsedToolCall) -> Message:
    if not _NAME.fullmatch(call.name):
        raise InvalidArgumentError(
            f"tool call: {call.name!r} is no name of a tool", hint="names have letters, digits, _, . and -"
        )
    # Nine letters: some templates check the length.
    identifier = f"call{place:05d}"
    return {"type": "function", "id": identifier, "function": {"name": call.name, "arguments": _arguments(call)}}


def _arguments(call: ParsedToolCall) -> object:
    try:
        found: object = msgspec.json.decode(call.arguments or "{}")
    except (msgspec.DecodeError, RecursionError) as error:
        raise InvalidArgumentError(f"tool call {call.name!r}: arguments are not JSON: {error}") from None
    if not isinstance(found, dict):
        raise InvalidArgumentError(f"tool call {call.name!r}: arguments are no JSON object")
    return found  # pyright: ignore[reportUnknownVariableType]
