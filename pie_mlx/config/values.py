"""Single values of the configuration: read from text, checked against their key, each with its origin."""

import tomllib
import typing
from dataclasses import dataclass
from typing import Any

import msgspec


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it comes from: `default`, a file, an environment variable or a flag."""

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
    """Text of the environment or the command line as the value a key wants; what does not parse stays text."""
    if _wants(type, str):
        return text
    if _wants(type, list):
        return [item.strip() for item in text.split(",") if item.strip()]
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _wants(hint: Any, wanted: type) -> bool:
    parts = typing.get_args(hint)
    return (
        hint is wanted
        or typing.get_origin(hint) is wanted
        or any(_wants(p, wanted) or type(p) is wanted for p in parts)
    )


def _choices(hint: Any) -> str:
    parts = [hint, *typing.get_args(hint)]
    literals = [part for part in parts if typing.get_origin(part) is typing.Literal]
    return f": one of {', '.join(str(choice) for choice in typing.get_args(literals[0]))}" if literals else ""
