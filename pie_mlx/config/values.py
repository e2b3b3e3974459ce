"""Single values of the configuration: reading them from text, checking them against their key, their origin."""

import typing
from dataclasses import dataclass
from typing import Any

import msgspec

from pie_mlx.documents import toml_document
from pie_mlx.errors import InvalidArgumentError


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and its origin: `default`, a file, an environment variable or a flag."""

    value: Any
    origin: str


def problem(type: Any, value: object) -> str:
    """Why a value does not fit its key's type, or ""."""
    try:
        msgspec.convert(value, type)
    except msgspec.ValidationError as error:
        return f"{str(error)[:1].lower()}{str(error)[1:]}{_choices(type)}"
    return ""


def read_text(type: Any, text: str) -> Any:
    """Text of the environment or the command line as a value of the key's type; text that does not parse stays text.

    A list is in brackets, or its items are joined by commas.
    """
    if _wants(type, list):
        listed = _parsed(text) if text.lstrip().startswith("[") else text
        return [item.strip() for item in text.split(",") if item.strip()] if listed == text else listed
    return text if _wants(type, str) else _parsed(text)


def _parsed(text: str) -> Any:
    """Text as a TOML value; text that is none stays text."""
    try:
        return toml_document(f"value = {text}")["value"]
    except InvalidArgumentError:
        return text


def rule(hint: Any) -> str:
    """The type, bounds or choices of a value, in a few words."""
    if choices := _literals(hint):
        return " ".join(f"`{choice}`" for choice in choices)
    note = next((part for part in _parts(hint) if isinstance(part, msgspec.Meta)), msgspec.Meta())
    names = {str: "text", int: "whole number", float: "number", bool: "true or false", list: "list", dict: "table"}
    kind = next(name for wanted, name in names.items() if _wants(hint, wanted))
    if _wants(hint, list):
        kind = "list of whole numbers" if _wants(hint, int) else "list of texts"
    bounds = {"above": note.gt, "at least": note.ge, "below": note.lt, "at most": note.le}
    return ", ".join([kind, *(f"{word} {_number(bound)}" for word, bound in bounds.items() if bound is not None)])


def _number(bound: float) -> str:
    return str(int(bound)) if float(bound).is_integer() else str(bound)


def _parts(hint: Any) -> list[Any]:
    """A type and its parts."""
    return [part for inner in (hint, *typing.get_args(hint)) for part in (inner, *typing.get_args(inner))]


def _wants(hint: Any, wanted: type) -> bool:
    parts = typing.get_args(hint)
    return (
        hint is wanted
        or typing.get_origin(hint) is wanted
        or any(_wants(p, wanted) or type(p) is wanted for p in parts)
    )


def _choices(hint: Any) -> str:
    literals = _literals(hint)
    return f": one of {', '.join(map(str, literals))}" if literals else ""


def _literals(hint: Any) -> tuple[Any, ...]:
    return next((typing.get_args(part) for part in _parts(hint) if typing.get_origin(part) is typing.Literal), ())
