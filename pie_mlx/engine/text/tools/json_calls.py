"""Tool calls whose arguments are written as JSON."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pie_mlx.calls import ParsedToolCall
from pie_mlx.engine.text.tools.tagged import tagged

_DEEPSEEK = re.compile(r"<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?([^<\n]{1,256}?)(?:<｜tool▁sep｜>|\n)")
_KIMI = re.compile(r"<\|tool_call_begin\|>([^<]{1,256})<\|tool_call_argument_begin\|>")
_MESSAGE, _START = "<|message|>", "<|start|>"
_HARMONY = re.compile(r"to=functions\.([\w.\-]+)")


def _dump(arguments: Mapping[str, Any]) -> str:
    """Arguments as compact JSON text."""
    return json.dumps(arguments, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def named_call(name: str, arguments: object) -> ParsedToolCall:
    """A call with arguments as an object, or as JSON text of one.

    Raises ValueError, also for what no JSON text can say: numbers that are none, and lone surrogates.
    """
    if isinstance(arguments, str):  # some models write the arguments as JSON inside a JSON string
        arguments = json.loads(arguments) if arguments.strip() else {}
    if not name or not isinstance(arguments, dict):
        raise ValueError("a call has a name and an object of arguments")
    text = _dump(cast("dict[str, Any]", arguments))
    (name + text).encode()
    return ParsedToolCall(name, text)


def as_call(value: object) -> ParsedToolCall:
    """A call from an object with a name and arguments under their usual keys. Raises ValueError."""
    if not isinstance(value, dict):
        raise ValueError("a call is an object")
    fields = cast("dict[str, Any]", value)
    if isinstance(fields.get("function"), dict):
        fields = cast("dict[str, Any]", fields["function"])
    name: Any = fields.get("name", fields.get("tool_name"))
    if not isinstance(name, str):
        raise ValueError("a call has a name")
    return named_call(name, fields.get("arguments", fields.get("parameters", {})))


def parse_object(body: str, schemas: Mapping[str, Any]) -> list[ParsedToolCall]:
    """One object, keys in any order."""
    del schemas
    return [as_call(json.loads(body))]


def parse_list(body: str, schemas: Mapping[str, Any]) -> list[ParsedToolCall]:
    """A list of objects, or one."""
    del schemas
    value: object = json.loads(body)
    return [as_call(item) for item in (cast("list[object]", value) if isinstance(value, list) else [value])]


def spell_objects(calls: Sequence[ParsedToolCall]) -> str:
    """Calls as `parse_object` reads them, each in a block of its own."""
    return "\n".join(f"<tool_call>\n{_spelled(call)}\n</tool_call>" for call in calls)


def spell_list(calls: Sequence[ParsedToolCall]) -> str:
    """Calls as `parse_list` reads them, after Granite's marker."""
    return f"<|tool_call|>[{', '.join(map(_spelled, calls))}]"


def _spelled(call: ParsedToolCall) -> str:
    return f'{{"name": {json.dumps(call.name, ensure_ascii=False)}, "arguments": {call.arguments}}}'


def parse_llama(body: str, schemas: Mapping[str, Any]) -> list[ParsedToolCall]:
    """Objects with a name and parameters and nothing else, one after the other: any other JSON is an answer."""
    del schemas
    calls: list[ParsedToolCall] = []
    text, decoder, at = body.strip(), json.JSONDecoder(), 0
    while at < len(text):
        value, at = cast("tuple[object, int]", decoder.raw_decode(text, at))
        if not isinstance(value, dict) or _keys(cast("dict[str, Any]", value)) not in (
            {"name", "parameters"},
            {"name", "arguments"},
        ):
            raise ValueError("not the keys of a call")
        calls.append(as_call(cast("dict[str, Any]", value)))
        while at < len(text) and text[at] in "; \n":
            at += 1
    return calls


def _keys(value: object) -> set[str]:
    return set(cast("dict[str, Any]", value)) - {"type"} if isinstance(value, dict) else set()


def parse_mistral(body: str, schemas: Mapping[str, Any]) -> list[ParsedToolCall]:
    """A list of objects, or in newer models a name, `[ARGS]` and an object for each call."""
    if body.lstrip().startswith("["):
        return parse_list(body, schemas)
    return [_mistral_call(part) for part in body.split("[TOOL_CALLS]")]


def _mistral_call(part: str) -> ParsedToolCall:
    head, found, arguments = part.partition("[ARGS]")
    if not found:
        brace = part.index("{")
        head, arguments = part[:brace], part[brace:]
    return named_call(head.partition("[CALL_ID]")[0].strip(), json.loads(arguments))


def parse_deepseek(body: str, schemas: Mapping[str, Any]) -> list[ParsedToolCall]:
    """Calls between begin, separator and end markers; older models fence the arguments."""
    del schemas
    return _found([(name, _unfenced(text)) for name, text in tagged(body, _DEEPSEEK, "<｜tool▁call▁end｜>")])


def parse_kimi(body: str, schemas: Mapping[str, Any]) -> list[ParsedToolCall]:
    """Calls named `functions.f:0`."""
    del schemas
    calls = tagged(body, _KIMI, "<|tool_call_end|>")
    return _found([(call.strip().removeprefix("functions.").partition(":")[0], text) for call, text in calls])


def parse_harmony(body: str, schemas: Mapping[str, Any]) -> list[ParsedToolCall]:
    """A message to a function, perhaps after others: the header names it, the message is the arguments."""
    del schemas
    start = 0
    while True:
        end = body.find(_MESSAGE, start)
        recipient = _HARMONY.search(body, start, len(body) if end < 0 else end)
        if recipient:
            message = "" if end < 0 else body[end + len(_MESSAGE) :].removesuffix("<|call|>")
            return [named_call(recipient[1], json.loads(message or "{}"))]
        begin = -1 if end < 0 else body.find(_START, end)
        if begin < 0:
            raise ValueError("not a message to a function")
        start = begin + len(_START)


def _unfenced(text: str) -> str:
    return text.strip().removeprefix("```json").removeprefix("```").removesuffix("```")


def _found(calls: list[tuple[str, str]]) -> list[ParsedToolCall]:
    if not calls:
        raise ValueError("no call between the markers")
    return [named_call(name.strip(), json.loads(arguments)) for name, arguments in calls]
