"""The input of a launch, one line for each parameter."""

from typing import NamedTuple

import msgspec


class InputLine(NamedTuple):
    """`value` is JSON, but text is without quotes."""

    name: str
    value: str


def input_lines(text: str) -> list[InputLine]:
    """The parameters of an input in JSON; an input that was cut is one line of text."""
    try:
        found = msgspec.json.decode(text, type=dict[str, msgspec.Raw]) if text else {}
    except msgspec.DecodeError:
        return [InputLine("", f"{text}…")]
    return [InputLine(name, _value(bytes(raw))) for name, raw in found.items()]


def _value(raw: bytes) -> str:
    value = msgspec.json.decode(raw)
    return value if isinstance(value, str) else raw.decode()
