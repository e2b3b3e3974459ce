"""A schema taken as JSON Schema defines it: objects open, formats annotations, limits whole numbers in any spelling."""

from typing import Any

from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas

_COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties")
_OVERRIDING_REF = ("draft-07", "draft-06", "draft-04", "draft-03")
"""Dialects in which nothing beside a `$ref` counts."""


def as_defined(schema: Schema) -> Schema:
    """The same schema without what restricts nothing by definition, in the engines' spelling."""
    return _plain(with_references_alone(schema))


def _plain(schema: Schema) -> Schema:
    kept = {key: _count(value) if key in _COUNTS else value for key, value in schema.items() if key != "format"}
    return replace_subschemas(kept, _plain)


def with_references_alone(schema: Schema) -> Schema:
    """The same schema without what is beside a `$ref`, in dialects that ignore it."""
    dialect = str(schema.get("$schema", ""))
    return _alone(schema) if any(name in dialect for name in _OVERRIDING_REF) else schema


def _alone(schema: Schema) -> Schema:
    kept = schema
    if "$ref" in schema:
        kept = {key: value for key, value in schema.items() if key in ("$ref", "$schema", "definitions", "$defs")}
    return replace_subschemas(kept, _alone)


def _count(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value
