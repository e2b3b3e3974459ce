"""Whether a constant fits a schema, where a few keywords tell."""

import re
from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.conditions.case import same
from pie_mlx.engine.text.grammar.json_schema.schema import Schema
from pie_mlx.engine.text.json_pointer import referred
from pie_mlx.engine.text.value_kinds import value_kinds

_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "$comment", "deprecated", "markdownDescription", "$id", "$schema"}
)  # fmt: skip
_OF_OBJECTS = frozenset({"properties", "required", "additionalProperties", "patternProperties"})
_LEVELS = 3


def fits(value: Any, schema: Any, root: Schema, levels: int = _LEVELS) -> bool | None:
    """None where it is hard to tell."""
    if not isinstance(schema, dict):
        return schema is not False
    fields = cast("Schema", schema)
    found = [_keeps(value, key, asked, root, levels) for key, asked in fields.items() if key not in _ANNOTATIONS]
    return False if False in found else None if None in found else True


def _keeps(value: Any, keyword: str, asked: Any, root: Schema, levels: int) -> bool | None:
    match keyword:
        case "type":
            named = {asked} if isinstance(asked, str) else {*asked}
            return bool(value_kinds(value) & (named | {"integer"} if "number" in named else named))
        case "const":
            return same(value, asked)
        case "enum":
            return any(same(value, one) for one in asked)
        case "$ref" if levels:
            return fits(value, referred(asked, root), root, levels - 1)
        case "anyOf":
            found = [fits(value, part, root, levels) for part in asked]
            return True if True in found else None if None in found else False
        case "allOf":
            found = [fits(value, part, root, levels) for part in asked]
            return False if False in found else None if None in found else True
        case "pattern":
            return _matches(value, asked)
        case "minLength" | "maxLength":
            least = keyword == "minLength"
            return not isinstance(value, str) or (len(value) >= asked if least else len(value) <= asked)
        case _:
            return True if keyword in _OF_OBJECTS and not isinstance(value, dict) else None


def _matches(value: Any, pattern: str) -> bool | None:
    try:
        return not isinstance(value, str) or re.search(pattern, value) is not None
    except re.error:
        return None
