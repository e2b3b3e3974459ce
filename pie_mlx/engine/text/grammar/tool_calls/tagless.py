"""Text that spells no closing tag, and JSON whose strings do not: a reader of tags would end a value there.

Numbers in such JSON are held to what every reader holds: up to 2**62, and without exponents."""

import re
from collections.abc import Sequence
from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas, step, subschemas

_ANYTHING = "value without tags"
_REF: Schema = {"$ref": "#/$defs/value%20without%20tags"}
_COMBINED = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_CONSTANTS = frozenset({"const", "enum"})
_NUMBERS = frozenset({"integer", "number"})
_HELD: Schema = {"minimum": -(2**62), "maximum": 2**62}
"""Digits and exponents without end make numbers that no reader can hold."""


def tagless_pattern(tags: Sequence[str]) -> str:
    """A regular expression for text without the tags, each of which has its only `<` in front."""
    heads = sorted({tag[1:end] for tag in tags for end in range(1, len(tag))})
    begun = f"(?:<(?:{'|'.join(map(re.escape, heads))}))*"
    broken = "|".join(f"{re.escape(head)}[^<{_nexts(head, tags)}]" for head in heads)
    return f"[^<]*(?:{begun}<(?:{broken})[^<]*)*{begun}"


def _nexts(head: str, tags: Sequence[str]) -> str:
    """The characters after `head` with which a tag goes on."""
    found = {tag[len(head) + 1] for tag in tags if tag.startswith(f"<{head}")}
    return "".join(sorted(map(re.escape, found)))


def without_tags(schema: Schema, tags: Sequence[str]) -> Schema:
    """The same schema for values whose strings and names of properties spell none of the tags."""
    pattern = f"^{tagless_pattern(tags)}$"
    kept = _tagless(schema, pattern)
    return {**kept, "$defs": {**kept.get("$defs", {}), _ANYTHING: _anything(pattern)}}


def _anything(pattern: str) -> Schema:
    scalars: Schema = {"type": ["null", "boolean", "number"], **_HELD}
    return {"anyOf": [scalars, *(_filled({"type": kind}, pattern) for kind in ("string", "array", "object"))]}


def _tagless(schema: Schema, pattern: str) -> Schema:
    """Of several schemas that judge a value, add the pattern to one branch only: llguidance recurses if two have it."""
    if not _COMBINED & schema.keys():
        inner = replace_subschemas(schema, lambda one: _tagless(one, pattern))
        return inner if _CONSTANTS & schema.keys() else _filled(inner, pattern)
    held = not _COMBINED - {"allOf"} & schema.keys()
    parts = cast("list[Any]", schema.get("allOf", []))
    apart = {key: value for key, value in schema.items() if key != "allOf"}
    inner = replace_subschemas(apart, lambda one: _tagless(one, pattern))
    if parts:
        inner["allOf"] = [_part(one, pattern, held and place == 0) for place, one in enumerate(parts)]
    return inner


def _part(schema: Any, pattern: str, filled: bool) -> Any:
    if not isinstance(schema, dict):
        return _filled({}, pattern) if filled and schema else schema
    fields = cast("Schema", schema)
    return _tagless(fields, pattern) if filled else replace_subschemas(fields, lambda one: _tagless(one, pattern))


def _filled(schema: Schema, pattern: str) -> Schema:
    """Restrict kinds that the schema leaves open."""
    kinds = schema.get("type", ["string", "array", "object", "number"])
    filled = dict(schema)
    if _NUMBERS.intersection([kinds] if isinstance(kinds, str) else kinds):
        filled = {**_open_ends(schema), **filled}
    if "string" in kinds:
        filled["allOf"] = [*filled.get("allOf", []), {"pattern": pattern}]
    if "array" in kinds:
        rest = "additionalItems" if isinstance(filled.get("items"), list) else "items"
        filled[rest] = _REF if filled.get(rest, True) in (True, {}) else filled[rest]
    if "object" in kinds and filled.get("additionalProperties") is not False:
        rest = filled.get("additionalProperties", True)
        filled["patternProperties"] = {pattern: _REF if rest in (True, {}) else rest}
        filled["additionalProperties"] = False
    return filled


def _open_ends(schema: Schema) -> Schema:
    """Bounds for the numbers of a schema that has none to a side."""
    return {key: bound for key, bound in _HELD.items() if key not in schema and f"exclusive{key.title()}" not in schema}


def spelled_tags(schema: Schema, tags: Sequence[str], path: str = "$") -> list[str]:
    """Every place where a schema names a tag, or says what properties of other names are beside those it declares."""
    found = [step(path, key) for key in ("const", "enum", "required") if _spells(schema.get(key), tags)]
    properties = cast("Schema", schema.get("properties", {}))
    found += [step(step(path, "properties"), name) for name in properties if _spells(name, tags)]
    if "patternProperties" in schema:
        found.append(step(path, "patternProperties"))
    elif properties and schema.get("additionalProperties", True) not in (True, False, {}):
        found.append(step(path, "additionalProperties"))
    for place, inner, _ in subschemas(schema, path):
        found += spelled_tags(inner, tags, place)
    return found


def _spells(value: Any, tags: Sequence[str]) -> bool:
    if isinstance(value, dict):
        return any(_spells(part, tags) for pair in cast("Schema", value).items() for part in pair)
    if isinstance(value, list):
        return any(_spells(one, tags) for one in cast("list[Any]", value))
    return isinstance(value, str) and any(tag in value for tag in tags)
