"""Schemas whose conditions are written as alternatives: `not`, `if`, and properties that depend on one another."""

from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.conditions.cases import CONDITIONS, Cases, UnknownCasesError
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas

_IN_PLACE = ("allOf", "anyOf", "oneOf")


def with_alternatives(schema: Schema) -> Schema:
    """A schema for the same values, or for fewer: conditions are written as alternatives of what they leave.

    Conditions of which too little is known stay as they are.
    """
    return _rewritten(schema, Cases(schema), {})


def _rewritten(schema: Schema, cases: Cases, inside: Schema) -> Schema:
    """`inside`: the schema that judges the same value."""
    conditions = _conditions(schema)
    kept = {key: value for key, value in schema.items() if key not in conditions}
    conditions = {**conditions, **({"properties": schema["properties"]} if "minProperties" in conditions else {})}
    if not conditions:
        return _deeper(schema, cases)
    try:
        known = cases.known(_joined(inside, kept))
        found = [_deeper(case.schema(known), cases) for case in cases.of(conditions, known)]
    except UnknownCasesError:
        return _deeper(schema, cases)
    return _with_branches(_deeper(kept, cases), found)


def _joined(inside: Schema, schema: Schema) -> Schema:
    required = [*inside.get("required", []), *schema.get("required", [])]
    return {**inside, **schema, **({"required": required} if required else {})}


def _deeper(schema: Schema, cases: Cases) -> Schema:
    """The same with the schemas inside rewritten."""
    apart = {key: value for key, value in schema.items() if key not in _IN_PLACE and key not in CONDITIONS}
    found = replace_subschemas(apart, lambda inner: _rewritten(inner, cases, {}))
    for key in ("allOf", "anyOf"):  # in `oneOf`, fewer values would let one branch take what two fit
        parts = cast("list[Any]", schema.get(key, []))
        if key in schema:
            found[key] = [
                _rewritten(cast("Schema", part), cases, apart) if isinstance(part, dict) else part for part in parts
            ]
    return {key: found.get(key, value) for key, value in schema.items()}


def _is_conditional(schema: Any) -> bool:
    """Whether a schema has conditions on the value that it judges."""
    if not isinstance(schema, dict):
        return False
    fields = cast("Schema", schema)
    parts = [part for key in _IN_PLACE for part in cast("list[Any]", fields.get(key, []))]
    return bool(CONDITIONS & fields.keys()) or any(map(_is_conditional, parts))


def _conditions(schema: Schema) -> Schema:
    """The keywords of a schema that are conditions, `allOf` among them where one of its parts has some."""
    found = {key: value for key, value in schema.items() if key in CONDITIONS}
    if schema.get("minProperties") == 1 and schema.get("properties") and _is_open(schema):
        found["minProperties"] = 1
    if any(map(_is_conditional, cast("list[Any]", schema.get("allOf", [])))):
        found["allOf"] = schema["allOf"]
    return found


def _is_open(schema: Schema) -> bool:
    """Engines count the properties of closed objects themselves."""
    return schema.get("additionalProperties", True) is not False or "patternProperties" in schema


def _with_branches(schema: Schema, branches: list[Schema]) -> Schema:
    if len(branches) == 1:
        return {**schema, "allOf": [*schema.get("allOf", []), branches[0]]} if branches[0] else schema
    if "anyOf" not in schema:
        return {**schema, "anyOf": branches}
    return {**schema, "allOf": [*schema.get("allOf", []), {"anyOf": branches}]}
