"""A schema whose values may be spelled in every way. Engines compare text, JSON Schema compares values.

Whole numbers among constants may have a fraction of zero, and the properties of small objects any order.
"""

import itertools
from dataclasses import dataclass
from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas

MAXIMUM_PROPERTIES = 4
"""Every order of the properties is an alternative of its own: four have 24."""
MAXIMUM_PARTS = 20_000
"""Values in a schema written out. Alternatives multiply where objects are nested."""

_EXACT_BELOW = 2**50
"""Beside larger whole numbers there are no floating-point numbers as close as `_whole_number` needs them."""
_RESOURCE = ("$schema", "$id", "$defs", "definitions")
_JOINT = ("allOf", "anyOf", "oneOf", "if", "then", "else")
_WITHOUT_PREFIX_ITEMS = ("draft-07", "draft-06", "draft-04", "draft-03", "2019-09")


def with_every_spelling(schema: Schema) -> Schema | None:
    """A schema for the same values in more spellings; None where that would take too many alternatives."""
    dialect = str(schema.get("$schema", ""))
    old = any(name in dialect for name in _WITHOUT_PREFIX_ITEMS)
    speller = _Speller("items", "additionalItems") if old else _Speller("prefixItems", "items")
    spelled = speller.spell(schema, alone=True)
    return spelled if _parts(spelled, {}) <= MAXIMUM_PARTS else None


def _parts(value: Any, known: dict[int, int]) -> int:
    """The number of values written out. Alternatives share what they have in common, so each is counted only once."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:  # pyright: ignore[reportUnknownArgumentType]
        inner = cast("Schema", value).values() if isinstance(value, dict) else cast("list[Any]", value)
        known[id(value)] = 1 + sum(_parts(one, known) for one in inner)  # pyright: ignore[reportUnknownArgumentType]
    return known[id(value)]  # pyright: ignore[reportUnknownArgumentType]


@dataclass(frozen=True, slots=True)
class _Speller:
    """`leading` and `following`: the keywords of the dialect for the first items of an array, and for the rest."""

    leading: str
    following: str

    def spell(self, schema: Schema, *, alone: bool) -> Schema:
        """`alone`: nothing else judges the same value, so that the order of its properties is decided here."""
        branches_alone = not schema.get("properties")
        apart = {key: value for key, value in schema.items() if key not in _JOINT}
        together = {
            key: self._branches(schema[key], branches_alone and key != "allOf") for key in _JOINT if key in schema
        }
        inside = replace_subschemas(apart, lambda inner: self.spell(inner, alone=True))
        spelled = self._constants({**inside, **together})
        return _in_any_order(spelled) if alone else spelled

    def _branches(self, value: Any, alone: bool) -> Any:
        if isinstance(value, list):
            return [self._branches(one, alone) for one in cast("list[Any]", value)]
        return self.spell(cast("Schema", value), alone=alone) if isinstance(value, dict) else value

    def _constants(self, schema: Schema) -> Schema:
        kept = dict(schema)
        for keyword in [keyword for keyword in ("const", "enum") if keyword in kept]:
            values: list[Any] = kept[keyword] if keyword == "enum" else [kept[keyword]]
            if any(map(_has_spellings, values)):
                del kept[keyword]
                kept["allOf"] = [*kept.get("allOf", []), {"anyOf": list(map(self._value, values))}]
        return kept

    def _value(self, value: Any) -> Schema:
        """The schema of one value."""
        if not _has_spellings(value):
            return {"const": value}
        if isinstance(value, list):
            return self._array(cast("list[Any]", value))
        return _in_any_order(self._object(cast("Schema", value))) if isinstance(value, dict) else _whole_number(value)

    def _array(self, items: list[Any]) -> Schema:
        lengths = {"minItems": len(items), "maxItems": len(items)}
        return {"type": "array", self.leading: list(map(self._value, items)), self.following: False, **lengths}

    def _object(self, fields: Schema) -> Schema:
        properties = {name: self._value(inner) for name, inner in fields.items()}
        return {"type": "object", "properties": properties, "required": list(fields), "additionalProperties": False}


def _has_spellings(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_spellings, cast("list[Any]", value)))
    return _is_whole(value) or (isinstance(value, dict) and bool(cast("Schema", value)))


def _is_whole(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and abs(value) < _EXACT_BELOW and value == int(value)


def _whole_number(value: float) -> Schema:
    """A whole number with or without one digit of fraction: the only multiple of one half near it."""
    return {"type": "number", "multipleOf": 0.5, "minimum": value - 0.4, "maximum": value + 0.4}


def _in_any_order(schema: Schema) -> Schema:
    """Alternatives that name the properties in each order first: what is named first is written first."""
    names = list(dict.fromkeys(_names(schema)))
    if not 2 <= len(names) <= MAXIMUM_PROPERTIES:
        return schema
    inner = {key: value for key, value in schema.items() if key not in _RESOURCE}
    orders = [{"allOf": [_order(names), inner]} for names in itertools.permutations(names)]
    return {**{key: schema[key] for key in _RESOURCE if key in schema}, "anyOf": orders}


def _order(names: tuple[str, ...]) -> Schema:
    return {"properties": dict.fromkeys(names, True)}


def _names(schema: Schema) -> list[str]:
    """The properties that a schema and its branches declare, in their order."""
    own = list(cast("Schema", schema.get("properties", {})))
    branches = cast("list[Any]", schema.get("allOf", []))
    return own + [name for branch in branches if isinstance(branch, dict) for name in _names(cast("Schema", branch))]
