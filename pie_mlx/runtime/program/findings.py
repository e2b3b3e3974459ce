"""What is wrong with something, all of it at once."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

SHOWN_CHARACTERS = 40
_LONGEST_WORD, _MOST_WORDS = 64, 1024
"""What is compared for likeness, which takes time by the square."""


def nearest(word: str, known: Iterable[str]) -> str:
    """ ", did you mean 'x'?" for a likely slip, else ""."""
    words = [one for one in islice(known, _MOST_WORDS) if len(one) <= _LONGEST_WORD]
    close = get_close_matches(word, words, n=1) if len(word) <= _LONGEST_WORD else []
    return f", did you mean {close[0]!r}?" if close else ""


def nearest_path(path: Path) -> Path | None:
    """What is there for a path with likely slips in it, None for no such or when there are no slips."""
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
