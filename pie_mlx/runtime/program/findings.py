"""Wording shared by error messages: suggestions for misspelled names, and values as text."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

SHOWN_CHARACTERS = 40
_LONGEST_WORD, _MOST_WORDS = 64, 1024
"""Bounds on what is compared: similarity takes quadratic time."""


def nearest(word: str, known: Iterable[str]) -> str:
    """ ", did you mean 'x'?" for a likely misspelling, else ""."""
    words = [one for one in islice(known, _MOST_WORDS) if len(one) <= _LONGEST_WORD]
    close = get_close_matches(word, words, n=1) if len(word) <= _LONGEST_WORD else []
    return f", did you mean {close[0]!r}?" if close else ""


def nearest_path(path: Path) -> Path | None:
    """The existing path that a misspelled one probably means; None if there is none, or nothing is misspelled."""
    found = Path(path.anchor)
    for part in path.parts[bool(path.anchor) :]:
        if not (found / part).exists():
            close = get_close_matches(part, _names(found), n=1)
            if not close:
                return None
            part = close[0]
        found /= part
    return None if found == path else found


def _names(directory: Path) -> list[str]:
    try:
        return [entry.name for entry in directory.iterdir()]
    except OSError:
        return []


def show_value(value: object) -> str:
    """A value for people: its JSON type and, if it is short, the value."""
    return f"{type_name(value)} {brief(value)}".strip()


def type_name(value: object) -> str:
    """The name that manifests use for a JSON value's type."""
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
    """A scalar as JSON-like text, cut at SHOWN_CHARACTERS; "" for a collection."""
    match value:
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case str():
            return f'"{value}"' if len(value) <= SHOWN_CHARACTERS else f'"{value[:SHOWN_CHARACTERS]}..."'
        case _:
            return ""
