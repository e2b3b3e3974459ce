"""A schema in the keywords and the order that engines know."""

from pie_mlx.engine.text.grammar.json_schema.apart import AllowsNothing, with_branches_apart
from pie_mlx.engine.text.grammar.json_schema.conditions.branches import with_alternatives
from pie_mlx.engine.text.grammar.json_schema.names import with_named_properties
from pie_mlx.engine.text.grammar.json_schema.numbers import with_exact_bounds
from pie_mlx.engine.text.grammar.json_schema.pattern_properties import with_names_apart
from pie_mlx.engine.text.grammar.json_schema.patterns.engine_patterns import with_engine_patterns
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas

_IN_PLACE = ("$ref", "allOf", "anyOf", "oneOf")


def in_engine_keywords(schema: Schema, allows_nothing: AllowsNothing) -> Schema:
    """A schema for the same values, or for fewer, with conditions as alternatives, as far as they can be written so.
    One with keywords of wrong types stays as it is, for the engine to refuse."""
    try:
        named = with_names_apart(with_named_properties(with_engine_patterns(schema)))
        apart = with_branches_apart(named, allows_nothing)
        return with_exact_bounds(_own_first(with_alternatives(apart)))
    except (AttributeError, KeyError, TypeError, ValueError):
        return schema


def _own_first(schema: Schema) -> Schema:
    """Engines write the properties that a schema declares itself before those of its parts."""
    parts = {key: schema[key] for key in _IN_PLACE if key in schema}
    rest = {key: value for key, value in schema.items() if key not in parts}
    return replace_subschemas({**rest, **parts}, _own_first)
