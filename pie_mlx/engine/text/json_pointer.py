"""References inside one JSON document."""

from functools import reduce
from typing import Any, cast
from urllib.parse import unquote


def pointer(ref: object) -> list[str] | None:
    """The keys of a reference into this schema; None for any other."""
    if not isinstance(ref, str) or not (ref == "#" or ref.startswith("#/")):
        return None
    return [unquote(key).replace("~1", "/").replace("~0", "~") for key in ref.split("/")[1:]]


def inside(value: Any, key: str) -> Any:
    """None where there is nothing."""
    if isinstance(value, list) and key.isdecimal():
        return next(iter(cast("list[Any]", value)[int(key) :]), None)
    return cast("dict[str, Any]", value).get(key) if isinstance(value, dict) else None


def referred(ref: object, root: Any) -> Any:
    """What a reference leads to; None where there is nothing."""
    keys = pointer(ref)
    return None if keys is None else reduce(inside, keys, root)
