"""How deep JSON values are nested."""

from typing import cast

MAXIMUM_DEPTH = 200
"""The depth of schemas: code that reads them recurses, also in other libraries."""


def nesting(value: object) -> int:
    """Levels of arrays and objects inside a value."""
    level, depth = [value], 0
    while level := [child for item in level for child in _children_of(item)]:
        depth += 1
    return depth


def _children_of(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(cast("dict[str, object]", value).values())
    return list(cast("list[object]", value)) if isinstance(value, list) else []
