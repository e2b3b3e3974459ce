"""Shows how two calls differ: the fields that do, and of long texts the lines around the difference."""

import difflib
import json
from collections.abc import Iterator
from typing import Any

import msgspec

from pie_mlx.calls import Call
from pie_mlx.calls.base import snake_case
from pie_mlx.runtime.replay.tape import Disagreement

_AROUND = 60
"""Characters shown before and after a difference in a long line."""
_LINES = 40
_INSIDE_CALLS = ("context", "matcher", "matchers", "call", "horizon", "prospect")
"""Numbers of handles, and what only advises: they are not compared."""


def call_name(message: Call[Any]) -> str:
    """The words for a kind of call."""
    return snake_case(type(message).__name__).replace("_", " ")


def difference_lines(found: Disagreement) -> list[str]:
    """What differs, `-` as recorded and `+` as made."""
    if found.before is None and found.after is not None:
        return [f"+ {call_name(found.after)}", *_fields("+", found.after)]
    if found.after is None and found.before is not None:
        return [f"- {call_name(found.before)}", *_fields("-", found.before)]
    before, after = _flat(found.before), _flat(found.after)
    lines: list[str] = []
    if type(found.before) is not type(found.after) and found.before is not None and found.after is not None:
        lines = [f"- {call_name(found.before)}", f"+ {call_name(found.after)}"]
    for name in dict.fromkeys([*before, *after]):
        if before.get(name) != after.get(name):
            lines += [name, *value_lines(before.get(name), after.get(name))]
    return lines[:_LINES]


def value_lines(before: Any, after: Any) -> list[str]:
    """Two values that differ, each shortened to what is around the first difference."""
    old, new = _text(before), _text(after)
    if "\n" in old or "\n" in new:
        shown = list(difflib.unified_diff(old.splitlines(), new.splitlines(), lineterm="", n=1))[2:]
        return [_cut(line) for line in shown if not line.startswith("@@")][:_LINES]
    start = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    return [
        f"{sign} {_around(text, start)}"
        for sign, text, value in (("-", old, before), ("+", new, after))
        if value is not None
    ]


def _fields(sign: str, message: Call[Any]) -> Iterator[str]:
    for name, value in _flat(message).items():
        yield f"{sign}   {name}: {_cut(_text(value))}"


def _flat(message: Call[Any] | None) -> dict[str, Any]:
    """The fields of a call, those of inner values by their path. Lists of values with fields are counted."""
    found: dict[str, Any] = {}
    if message is not None:
        _flatten("", msgspec.to_builtins(message), found)
    return found


def _flatten(path: str, value: Any, found: dict[str, Any]) -> None:
    if isinstance(value, dict):
        for name, inner in value.items():  # pyright: ignore[reportUnknownVariableType]
            if name not in _INSIDE_CALLS:
                _flatten(f"{path}.{name}" if path else str(name), inner, found)  # pyright: ignore[reportUnknownArgumentType]
    elif isinstance(value, list) and value and isinstance(value[0], dict):
        for place, inner in enumerate(value):  # pyright: ignore[reportUnknownVariableType,reportUnknownArgumentType]
            _flatten(f"{path}[{place}]", inner, found)
    else:
        found[path] = value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _around(text: str, start: int) -> str:
    begin, end = max(0, start - _AROUND), start + _AROUND
    return f"{'...' if begin else ''}{text[begin:end]}{'...' if end < len(text) else ''}"


def _cut(text: str) -> str:
    return _around(text, 0) if len(text) > 3 * _AROUND else text
