"""The input of a program, from the texts typed into a form."""

import math
from collections.abc import Mapping
from typing import Any

from pie_mlx.documents import json_value
from pie_mlx.errors import InvalidArgumentError
from pie_mlx.tui.model.facts import InstalledProgram, Parameter


def form_input(program: InstalledProgram, typed: Mapping[str, str]) -> dict[str, Any]:
    """The values of the filled fields; the engine has the defaults of the others.

    Raises InvalidArgumentError, naming the parameter.
    """
    values: dict[str, Any] = {}
    for parameter in program.parameters:
        text = typed.get(parameter.name, "")
        if text:
            values[parameter.name] = _value(parameter, text)
        elif parameter.required:
            raise InvalidArgumentError(f"{parameter.name}: it is required", hint="fill the field")
    return values


def form_budget(text: str) -> int | None:
    """A number of tokens, or None for no limit. Raises InvalidArgumentError."""
    if not text:
        return None
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise InvalidArgumentError("token budget: it is a number of 1 or more", hint="leave it empty for no limit")
    return int(text)


def _value(parameter: Parameter, text: str) -> Any:
    try:
        match parameter.type:
            case "string":
                return text
            case "int":
                return int(text)
            case "float":
                return _finite(text)
            case "bool":
                return {"true": True, "false": False}[text.casefold()]
            case "any":
                return _json_or_text(text)
            case _:
                return json_value(text)
    except (ValueError, KeyError):
        raise InvalidArgumentError(
            f"{parameter.name}: {text!r} is not {_kind(parameter.type)}", hint="change the field"
        ) from None


def _json_or_text(text: str) -> Any:
    try:
        return json_value(text)
    except ValueError:
        return text


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _kind(type: str) -> str:
    return {"int": "a whole number", "float": "a number", "bool": "true or false"}.get(type, "JSON")
