"""Values that programs send: text as it is, everything else as JSON text."""

import inspect
import json
from collections.abc import Iterable
from typing import Any

import msgspec

from inferlet._calls.checks import checked_text
from pie_mlx.errors import InvalidTypeError


def message_text(what: str, value: Any) -> str:
    """The text of a message: a str as it is, anything else as JSON (I4).

    Raises InvalidTypeError for what JSON cannot hold, InvalidArgumentError for text that is not Unicode.
    """
    return checked_text(value, what) if isinstance(value, str) else json_text(what, value)


def json_text(what: str, value: Any) -> str:
    """`value` as JSON. Raises InvalidTypeError."""
    if inspect.isawaitable(value):
        problem = f"{what}: the {type(value).__name__} has not been awaited"
        raise InvalidTypeError(problem, hint="write 'await' before it")
    try:
        encoded = msgspec.json.encode(value)
        if b"null" in encoded:  # msgspec also writes null for NaN and infinity
            json.dumps(msgspec.to_builtins(value), allow_nan=False)
        return encoded.decode()
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise _refusal(what, error) from error


def spaced_text(what: str, value: Any) -> str:
    """The text of a tool or its result for the model: a str as it is, anything else as JSON.

    Spaced as by `json.dumps`, like the tool results that models were trained on. Raises InvalidTypeError for values
    JSON cannot hold, InvalidArgumentError for text that is not Unicode.
    """
    try:
        text = value if isinstance(value, str) else _spaced(value)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise _refusal(what, error) from error
    return checked_text(text, what)


def _refusal(what: str, error: Exception) -> InvalidTypeError:
    why = "it is nested too deeply" if isinstance(error, RecursionError) else error
    return InvalidTypeError(f"{what}: {why}", hint="use a str or values JSON can hold")


def _spaced(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value), ensure_ascii=False, allow_nan=False)


def schema_texts(schemas: Iterable[str | dict[str, Any]]) -> list[str]:
    """The schemas of tools as JSON text."""
    return [spaced_text("tool schema", schema) for schema in schemas]
