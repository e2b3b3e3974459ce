"""A schema taken as JSON Schema defines it: objects open, formats annotations, limits whole numbers in any spelling."""

from typing import Any

from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas

_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_OVERRIDING_REF = ("draft-07", "draft-06", "draft-04", "draft-03")
"""Dialects in which nothing beside a `$ref` counts."""


def as_defined(schema: Schema) -> Schema:
    """The same schema without what restricts nothing by definition, in the engines' spelling."""
    dialect = str(schema.get("$schema", ""))
    return _plain(schema, alone=any(name in dialect for name in _OVERRIDING_REF))


def _plain(schema: Schema, *, alone: bool) -> Schema:
    kept = {key: _count(value) if key in _COUNTS else value for key, value in schema.items() if key != "format"}
    if alone and "$ref" in kept:
        kept = {key: value for key, value in kept.items() if key in ("$ref", "$schema", "definitions", "$defs")}
    return replace_subschemas(kept, lambda inner: _plain(inner, alone=alone))


def _count(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
