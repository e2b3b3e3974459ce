"""The values that a schema refuses, as schemas."""

import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.patterns.language import Language
from pie_mlx.engine.text.grammar.json_schema.patterns.syntax import UnknownPatternError
from pie_mlx.engine.text.grammar.json_schema.schema import Schema
from pie_mlx.engine.text.json_pointer import referred

KINDS = ("array", "boolean", "null", "number", "object", "string")
"""The kinds of values. Whole numbers are no kind of their own."""
LEVELS = 3
"""References that are followed from one schema."""

_ONE_LESS = {
    "minLength": ("string", "maxLength"),
    "minItems": ("array", "maxItems"),
    "minProperties": ("object", "maxProperties"),
}
_ONE_MORE = {
    "maxLength": ("string", "minLength"),
    "maxItems": ("array", "minItems"),
    "maxProperties": ("object", "minProperties"),
}
_BEYOND = {
    "minimum": "exclusiveMaximum", "maximum": "exclusiveMinimum", "exclusiveMinimum": "maximum",
    "exclusiveMaximum": "minimum",
}  # fmt: skip


def complement(schema: Any, root: Schema, levels: int = LEVELS) -> list[Schema]:
    """Alternatives, each of which only values fit that `schema` refuses; they may leave some of those out."""
    if not isinstance(schema, dict):
        return [{}] if schema is False else []
    fields = cast("Schema", schema)
    if "$ref" in fields:  # in old dialects what is beside it does not count
        fields = {"$ref": fields["$ref"]}
    return [other for keyword, value in fields.items() for other in _without(keyword, value, root, levels)]


def _without(keyword: str, value: Any, root: Schema, levels: int) -> list[Schema]:
    match keyword, value:
        case "type", _:
            kinds = _other_kinds([value] if isinstance(value, str) else value)
            return [{"type": kinds}] if kinds else []
        case "const", _:
            return other_values([value])
        case "enum", list():
            return other_values(cast("list[Any]", value))
        case "required", list():
            return [{"type": "object", "properties": {str(name): False}} for name in cast("list[Any]", value)]
        case "properties", dict():
            properties = cast("Schema", value).items()
            return [_with_property(name, other) for name, one in properties for other in complement(one, root, levels)]
        case "items", dict():
            others = complement(value, root, levels)
            return [{"type": "array", "minItems": 1, "items": {"anyOf": others}}] if others else []
        case "allOf", list():
            return [other for part in cast("list[Any]", value) for other in complement(part, root, levels)]
        case (("anyOf" | "oneOf"), list()):
            return _outside_all([complement(part, root, levels) for part in cast("list[Any]", value)])
        case "not", _:
            return [cast("Schema", value) if isinstance(value, dict) else {}] if value is not False else []
        case "pattern", str():
            return _other_texts(value)
        case "$ref", _ if levels:
            return complement(referred(value, root), root, levels - 1)
        case _:
            return _beyond(keyword, value)


def _other_texts(pattern: str) -> list[Schema]:
    try:
        return [{"type": "string", "pattern": (~Language.of(pattern)).pattern()}]
    except UnknownPatternError:
        return []


def _with_property(name: str, schema: Schema) -> Schema:
    return {"type": "object", "required": [name], "properties": {name: schema}}


def _outside_all(parts: list[list[Schema]]) -> list[Schema]:
    """Outside of each of several schemas, of which the complements are given."""
    if not all(parts):
        return []
    return [{"allOf": [part[0] if len(part) == 1 else {"anyOf": part} for part in parts]}]


def _beyond(keyword: str, bound: Any) -> list[Schema]:
    """Beyond a bound."""
    if isinstance(bound, bool) or not isinstance(bound, int | float):
        return []
    if keyword in _BEYOND:
        return [{"type": "number", _BEYOND[keyword]: bound}]
    if keyword in _ONE_LESS and bound > 0:
        kind, other = _ONE_LESS[keyword]
        return [{"type": kind, other: int(bound) - 1}]
    if keyword in _ONE_MORE:
        kind, other = _ONE_MORE[keyword]
        return [{"type": kind, other: int(bound) + 1}]
    return []


def _other_kinds(kinds: Iterable[str]) -> list[str]:
    """Numbers are left out where only whole ones are refused."""
    refused = {"number" if kind == "integer" else kind for kind in kinds}
    return [kind for kind in KINDS if kind not in refused]


def other_values(values: list[Any]) -> list[Schema]:
    """Schemas for all values but these; arrays and objects are left out where one of them is among these."""
    strings = sorted({value for value in values if isinstance(value, str)})
    numbers = sorted({value for value in values if isinstance(value, int | float) and not isinstance(value, bool)})
    flags = [value for value in values if isinstance(value, bool)]
    whole = [kind for kind, kept in zip(KINDS, (
        not any(isinstance(value, list) for value in values), not flags, None not in values, not numbers,
        not any(isinstance(value, dict) for value in values), not strings), strict=True) if kept]  # fmt: skip
    found: list[Schema] = [{"type": whole}] if whole else []
    if strings:
        found.append({"type": "string", "pattern": f"^{other_text(strings)}$"})
    if len(set(flags)) == 1:
        found.append({"const": not flags[0]})
    return found + _between(numbers)


def _between(numbers: Sequence[float]) -> list[Schema]:
    if not numbers:
        return []
    found: list[Schema] = [{"type": "number", "exclusiveMaximum": numbers[0]}]
    for low, high in itertools.pairwise(numbers):
        found.append({"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": high})
    return [*found, {"type": "number", "exclusiveMinimum": numbers[-1]}]


def other_text(texts: list[str]) -> str:
    """A regular expression for every text but these, which are in order."""
    nexts: dict[str, list[str]] = {}
    for text in texts:
        if text:
            nexts.setdefault(text[0], []).append(text[1:])
    letters = "".join(map(_in_class, nexts))
    parts = [] if "" in texts else [""]
    parts.append(f"[^{letters}](?s:.)*" if letters else "(?s:.)+")
    parts += [re.escape(letter) + other_text(rest) for letter, rest in nexts.items()]
    return f"(?:{'|'.join(parts)})"


def _in_class(letter: str) -> str:
    return f"\\{letter}" if letter in r"\]^-[&~" else letter
