"""The ways in which templates take the tool calls of past replies.

Most want the arguments as objects. Some put calls together from text, and do not where the reply has a content, be it
empty. Some know no calls at all: what they are given is the reply as the model wrote it.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from pie_mlx.calls import ParsedToolCall
from pie_mlx.engine.text.conversation.sentinels import ARGUMENT, RESULTS
from pie_mlx.engine.text.conversation.tool_fragments import exchange
from pie_mlx.engine.text.templates.template import ChatTemplate, Message
from pie_mlx.engine.text.tools.tool_families import recognise_family
from pie_mlx.errors import TemplateError

_PYTHON_OR_QUOTED_TWICE = ("'city'", '\\"city\\"')

Restyle = Callable[[Message], Message]


def adapt_calls(template: ChatTemplate) -> None:
    """Find out how the template wants past calls, and have it given them so. One that takes none stays as it is."""
    family = recognise_family(template.source)
    if family is None:
        return
    as_objects = template.restyle_calls
    written_out = [_written_out(family.spell)] if family.spell else []
    for template.restyle_calls in (as_objects, _with_argument_texts, _as_texts_alone, *written_out):
        if _shows_arguments(template):
            return
    template.restyle_calls = as_objects


def _shows_arguments(template: ChatTemplate) -> bool:
    try:
        text = exchange(template, "get_city", RESULTS[:1])
    except TemplateError:
        return False
    return ARGUMENT in text and not any(sign in text for sign in _PYTHON_OR_QUOTED_TWICE)


def _with_argument_texts(message: Message) -> Message:
    calls = [
        {**call, "function": {**call["function"], "arguments": _text(call["function"])}}
        for call in message["tool_calls"]
    ]
    return {**message, "tool_calls": calls}


def _as_texts_alone(message: Message) -> Message:
    return {**_with_argument_texts(message), "content": message["content"] or None}


def _written_out(spell: Callable[[Sequence[ParsedToolCall]], str]) -> Restyle:
    def restyle(message: Message) -> Message:
        functions = [call["function"] for call in message["tool_calls"]]
        written = spell([ParsedToolCall(function["name"], _text(function)) for function in functions])
        rest = {key: value for key, value in message.items() if key != "tool_calls"}
        return {**rest, "content": f"{message['content']}\n{written}" if message["content"] else written}

    return restyle


def _text(function: dict[str, Any]) -> str:
    return json.dumps(function["arguments"], ensure_ascii=False)
