"""Keywords that restrict nothing where they stand, or no more than a plainer one does. Engines refuse them by name."""

from collections.abc import Mapping
from typing import Any

from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas

_IN_PLACE = (
    "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas",
    "dependencies", "contains",
)  # fmt: skip
"""Keywords that may evaluate properties and items in the places of those beside them."""
_EVERYTHING: tuple[object, ...] = (True, {})
_IDLE_WITH: Mapping[str, tuple[object, ...]] = {
    "propertyNames": _EVERYTHING,
    "unevaluatedProperties": _EVERYTHING,
    "unevaluatedItems": _EVERYTHING,
    "dependentRequired": ({},),
    "dependentSchemas": ({},),
    "dependencies": ({},),
    "uniqueItems": (False,),
    "not": (False, {"not": {}}),
}
"""Keywords by the values with which they restrict nothing."""


def without_idle(schema: Schema) -> Schema:
    """The same schema without them."""
    kept = {key: value for key, value in schema.items() if not _is_idle(key, value, schema)}
    for unevaluated, rest in (("unevaluatedProperties", "additionalProperties"), ("unevaluatedItems", "items")):
        looks_alone = not any(keyword in schema for keyword in _IN_PLACE) and not isinstance(kept.get(rest), list)
        if unevaluated in kept and looks_alone:
            value = kept.pop(unevaluated)
            kept.setdefault(rest, value)
    return replace_subschemas(kept, without_idle)


def _is_idle(keyword: str, value: Any, beside: Schema) -> bool:
    if any(value is idle or (isinstance(idle, dict) and value == idle) for idle in _IDLE_WITH.get(keyword, ())):
        return True
    match keyword:
        case "uniqueItems":
            return beside.get("maxItems") in (0, 1)
        case "if" | "then" | "else" if isinstance(value, dict) and "$id" in value:
            return False  # others may refer to it
        case "if":
            return "then" not in beside and "else" not in beside
        case "then" | "else":
            return "if" not in beside
        case "contains":
            return beside.get("minContains") == 0 and "maxContains" not in beside
        case "minContains":
            return "contains" not in beside or (value == 0 and "maxContains" not in beside)
        case "maxContains":
            return "contains" not in beside
        case _:
            return False
