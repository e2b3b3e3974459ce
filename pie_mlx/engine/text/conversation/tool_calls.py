"""Tool calls found in finished text."""

import json
from collections.abc import Sequence

from pie_mlx.calls import ParsedToolCall, ToolFormat
from pie_mlx.engine.text.conversation.writing import tool_schemas
from pie_mlx.engine.text.tools.tool_families import BY_STYLE, ToolFamily

MOST_CALLS = 1024
"""Calls in one reply: looking for each takes time in proportion to the reply."""


def parse_calls(tools: ToolFormat | None, text: str, schemas: Sequence[str] = ()) -> list[ParsedToolCall]:
    """Every call in `text`; none if one of its blocks does not parse (D4).

    `schemas` are the JSON texts of the offered tools: a call of another tool is then no call, and untyped values are
    converted by their schemas. Raises InvalidArgumentError for a bad schema.
    """
    if tools is None:
        return []
    family = BY_STYLE[tools.style]
    offered = {tool["function"]["name"]: tool["function"].get("parameters", {}) for tool in tool_schemas(schemas)}
    try:
        calls = [call for body in _blocks(family, text) for call in family.parse(body, offered)]
    except (ValueError, RecursionError):
        return []
    return calls if not offered or all(call.name in offered for call in calls) else []


def _blocks(family: ToolFamily, text: str) -> list[str]:
    """The text inside each pair of delimiters, or a bare call. Raises ValueError for a block that does not end."""
    found: list[str] = []
    while (start := _first(family.openings, text)) is not None:
        at, opening = start
        body = text[at + len(opening) :]
        end = _block_end(family, body)
        found.append(body[:end])
        text = body[end + len(family.closing) :]
        if len(found) > MOST_CALLS:
            raise ValueError("too many")
    if found or (family.openings and not family.bare):
        return found
    return [text.strip()] if text.lstrip().startswith(family.bare) else []


def _first(openings: Sequence[str], text: str) -> tuple[int, str] | None:
    return min(((text.index(opening), opening) for opening in openings if opening in text), default=None)


def _block_end(family: ToolFamily, body: str) -> int:
    """Where a block's closing begins: after its JSON value, since a string in it may spell the closing."""
    if not family.closing:
        return len(body)
    return body.index(family.closing, _json_end(body))


def _json_end(body: str) -> int:
    """The end of a JSON value at the start of `body`; 0 when there is none."""
    stripped = body.lstrip()
    if not stripped.startswith(("{", "[")):
        return 0
    try:
        _, length = json.JSONDecoder().raw_decode(stripped)
    except ValueError:
        return 0
    return len(body) - len(stripped) + length
