"""One conversation of the training text and how its last answer is scored."""

import json
from dataclasses import dataclass, field
from typing import Any, Literal

Message = dict[str, Any]
Tool = dict[str, Any]
CheckKind = Literal["exact", "calls", "json", "contains", "no_call"]


@dataclass(frozen=True)
class Check:
    """How the last assistant turn is judged.

    exact: the visible text equals `expected` (thinking removed). calls: the tool calls equal. json: the parsed
    text equals. contains: every string of `expected` occurs, no call is made. no_call: text without any call.
    """

    kind: CheckKind
    expected: Any = None


@dataclass(frozen=True)
class Sample:
    """A rendered-to-be conversation ending in an assistant turn; `thinking` is the template's switch, where only
    False has an effect: it forbids a thought."""

    task: str
    messages: tuple[Message, ...]
    check: Check
    tools: tuple[Tool, ...] = ()
    thinking: bool | None = None
    used: frozenset[str] = field(default=frozenset(), compare=False)


def system(text: str) -> Message:
    return {"role": "system", "content": text}


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def assistant(text: str, thought: str | None = None) -> Message:
    message: Message = {"role": "assistant", "content": text}
    if thought is not None:
        message["reasoning_content"] = thought
    return message


def calling(*calls: tuple[str, dict[str, Any]], text: str = "", thought: str | None = None) -> Message:
    """An assistant turn that calls tools, each given as (name, arguments)."""
    message = assistant(text, thought)
    message["tool_calls"] = [{"type": "function", "function": {"name": n, "arguments": a}} for n, a in calls]
    return message


def result(value: Any) -> Message:
    """A tool's answer; anything but a string is written as JSON."""
    return {"role": "tool", "content": value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}
