"""What is wrong with something, all of it at once."""

from collections.abc import Iterable
from difflib import get_close_matches

SHOWN_CHARACTERS = 40


def nearest(word: str, known: Iterable[str]) -> str:
    """ ", did you mean 'x'?" for a likely slip, else ""."""
    close = get_close_matches(word, list(known), n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def show_value(value: object) -> str:
    """A value as people know it: its JSON type and, where it is short, itself."""
    return f"{type_name(value)} {brief(value)}".strip()


def type_name(value: object) -> str:
    """The name a JSON value's type goes by in a manifest."""
    match value:
        case None:
            return "null"
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float"
        case str():
            return "string"
        case list() | tuple():
            return "list"
        case dict():
            return "object"
        case _:
            return type(value).__name__


def brief(value: object) -> str:
    """A scalar as JSON-like text, cut at SHOWN_CHARACTERS; nothing for a collection."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return f'"{value}"' if len(value) <= SHOWN_CHARACTERS else f'"{value[:SHOWN_CHARACTERS]}..."'
        case _:
            return ""
