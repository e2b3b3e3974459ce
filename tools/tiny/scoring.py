"""How an answer of the model is judged."""

import json
import re
from dataclasses import dataclass
from typing import Any

from tools.tiny.chat import TURN_END
from tools.tiny.text.sample import Check

_CALL = re.compile(r"<tool_call>\n(.*?)\n</tool_call>", re.DOTALL)
_THOUGHT = re.compile(r"^(<think>\n)?.*?\n</think>\n\n", re.DOTALL)


@dataclass(frozen=True)
class Judgement:
    """Whether an answer is right, whether its turn ended, and whether its JSON parsed (None without JSON)."""

    right: bool
    ended: bool
    parsed: bool | None = None


def _object(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def calls_of(text: str) -> list[tuple[str, Any]] | None:
    """The tool calls of an answer; None when one does not parse."""
    calls: list[tuple[str, Any]] = []
    for body in _CALL.findall(text):
        value = _object(body)
        if not isinstance(value, dict) or set(value) != {"name", "arguments"}:
            return None
        calls.append((value["name"], value["arguments"]))
    return calls


def _equal(left: Any, right: Any) -> bool:
    # 1 == 1.0 == True in Python, yet they are different arguments.
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def judge(answer: str, check: Check) -> Judgement:
    """`answer` is the generated text including its turn end, if there is one."""
    ended = answer.endswith(TURN_END)
    visible = _THOUGHT.sub("", answer.removesuffix(TURN_END), count=1)
    if check.kind == "calls":
        calls = calls_of(visible)
        expected = [list(call) for call in check.expected]
        right = calls is not None and _equal([list(call) for call in calls], expected)
        return Judgement(right and ended, ended, bool(calls))
    if check.kind == "json":
        value = _object(visible)
        return Judgement(_equal(value, check.expected) and ended, ended, value is not None)
    if check.kind == "no_call":
        return Judgement("<tool_call>" not in visible and visible != "" and ended, ended)
    if check.kind == "contains":
        found = all(text.lower() in visible.lower() for text in check.expected)
        return Judgement(found and "<tool_call>" not in visible and ended, ended)
    return Judgement(visible == check.expected and ended, ended)
