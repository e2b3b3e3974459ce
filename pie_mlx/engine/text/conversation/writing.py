"""Turns of a conversation written one by one: the contract of the two ways to do it."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, cast

import msgspec

from pie_mlx.calls import ChatState, Turn
from pie_mlx.engine.text.conversation.calling import TOOL_NAME
from pie_mlx.engine.text.conversation.fragments import message
from pie_mlx.engine.text.nesting import MAXIMUM_DEPTH, nesting
from pie_mlx.engine.text.templates.template import Message
from pie_mlx.errors import InvalidArgumentError

_SHALLOWER = "move inner schemas into $defs and refer to them"


class Piece(NamedTuple):
    """Text to be tokenised; `is_content` when it came from outside and may not spell control tokens."""

    text: str
    is_content: bool = False


class Written(NamedTuple):
    """The pieces of one turn and the conversation after it."""

    pieces: list[Piece]
    state: ChatState

    @property
    def text(self) -> str:
        return "".join(piece.text for piece in self.pieces)


class TurnWriter(Protocol):
    """Writes the next turn of a conversation. Keeps nothing: the state is given and returned.

    Raises TemplateError for a turn the model's template has no place for.
    """

    def write(self, turn: Turn, state: ChatState) -> Written: ...


def tool_schema(text: str) -> dict[str, Any]:
    """A tool's schema as templates expect it: the function wrapped in its type. Raises InvalidArgumentError."""
    try:
        schema = msgspec.json.decode(text, type=dict[str, Any])
    except RecursionError:
        raise InvalidArgumentError("tool schema: it is nested too deeply", hint=_SHALLOWER) from None
    except msgspec.DecodeError as error:
        raise InvalidArgumentError(f"tool schema: {error}", hint="give one JSON object per tool") from error
    wrapped = schema if "function" in schema else {"type": "function", "function": schema}
    function = wrapped["function"]
    name: object = cast("dict[str, Any]", function).get("name") if isinstance(function, dict) else None
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        raise InvalidArgumentError(
            f"tool schema: {name!r} is no name of a tool",
            hint='give {"name": ..., "parameters": {...}}; names have letters, digits, _, . and -',
        )
    if (depth := nesting(schema)) > MAXIMUM_DEPTH:
        raise InvalidArgumentError(
            f"tool schema: that of {name!r} is nested {depth} levels deep, at most {MAXIMUM_DEPTH}", hint=_SHALLOWER
        )
    return wrapped


def tool_schemas(texts: Sequence[str]) -> list[dict[str, Any]]:
    """Several tools. Raises InvalidArgumentError for a schema that is none and for two tools of one name."""
    tools = [tool_schema(text) for text in texts]
    [(name, count)] = Counter(tool["function"]["name"] for tool in tools).most_common(1) or [("", 0)]
    if count > 1:
        raise InvalidArgumentError(f"tool schema: two tools are named {name!r}", hint="give each tool its own name")
    return tools


def held_head(held: Sequence[Turn]) -> tuple[str, list[Message], list[dict[str, Any]]]:
    """The system text, the leading messages and the tools that wait for the first user turn."""
    system = "\n\n".join(turn.text for turn in held if turn.role == "system")
    has_system = any(turn.role == "system" for turn in held)
    tools = tool_schemas([schema for turn in held if turn.role == "tools" for schema in turn.schemas])
    return system, [message("system", system)] if has_system else [], tools


def isolate(text: str, marked: str, mark: str) -> list[Piece]:
    """Mark the content inside `text`, by the place a `mark` has in the same rendering."""
    before, found, after = marked.partition(mark)
    if not found or not (text.startswith(before) and text.endswith(after)) or len(before) + len(after) > len(text):
        return [Piece(text)]
    return [Piece(before), Piece(text[len(before) : len(text) - len(after)], is_content=True), Piece(after)]
