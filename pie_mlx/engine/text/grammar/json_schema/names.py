"""Names that properties may have, in keywords that engines know."""

import re
from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.patterns.language import Language
from pie_mlx.engine.text.grammar.json_schema.patterns.syntax import UnknownPatternError
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas
from pie_mlx.engine.text.json_pointer import referred

_ONE_KIND = re.compile(r"\^(\[[^\]\\]*(?:\\.[^\]\\]*)*\]|\\w|\\d)([+*])\$")
"""A pattern of characters of one kind."""
EVERY_NAME = ("", ".*", "^.*$", "^.*", ".*$")
_LENGTHS = frozenset({"minLength", "maxLength"})


def with_named_properties(schema: Schema) -> Schema:
    """The same schema with `propertyNames` as `properties` or `patternProperties`, where it lists names or has one
    pattern or length for them."""
    return _named(schema, schema)


def _named(schema: Schema, root: Schema) -> Schema:
    found = replace_subschemas(schema, lambda inner: _named(inner, root))
    if "propertyNames" not in found:
        return found
    names = found["propertyNames"]
    while isinstance(names, dict) and names.keys() & {"$ref"}:
        names = referred(cast("Schema", names)["$ref"], root)
    made = _restricted(_only_rest(found), _asked(cast("Schema", names))) if isinstance(names, dict) else None
    return found if made is None else {key: value for key, value in made.items() if key != "propertyNames"}


def _asked(names: Schema) -> Schema:
    asked = {key: value for key, value in names.items() if key in ("const", "enum", "pattern", "not", *_LENGTHS)}
    kept = ("title", "description", "$comment", "examples", "default")
    rest = {key: value for key, value in names.items() if key not in asked and key not in kept}
    return {**asked, **rest} if rest != {"type": "string"} else asked


def _restricted(schema: Schema, asked: Schema) -> Schema | None:
    """None where the names have no plain form."""
    match asked:
        case {"enum": values, **rest} if isinstance(values, list) and not rest:
            names = [value for value in cast("list[Any]", values) if isinstance(value, str)]
            return None if "patternProperties" in schema else _listed(schema, names)
        case {"const": str(value), **rest} if not rest:
            return None if "patternProperties" in schema else _listed(schema, [value])
        case {"pattern": str(pattern), **rest} if not rest:
            return _matching(schema, pattern)
        case {"pattern": str(pattern), **rest} if rest.keys() <= _LENGTHS and (kind := _ONE_KIND.fullmatch(pattern)):
            least = max(rest.get("minLength", 0), int(kind[2] == "+"))
            return _matching(schema, f"^{kind[1]}{{{least},{rest.get('maxLength', '')}}}$")
        case _ if asked.keys() <= _LENGTHS:
            least, most = asked.get("minLength", 0), asked.get("maxLength", "")
            return _matching(schema, f"^(?s:.{{{least},{most}}})$") if asked else schema
        case _:
            return None


def _only_rest(schema: Schema) -> Schema:
    """A pattern for every name says what `additionalProperties` does."""
    patterns = cast("Schema", schema.get("patternProperties", {}))
    if len(patterns) == 1 and (pattern := next(iter(patterns))) in EVERY_NAME and "properties" not in schema:
        kept = {key: value for key, value in schema.items() if key != "patternProperties"}
        return {**kept, "additionalProperties": patterns[pattern]}
    return schema


def _listed(schema: Schema, names: list[str]) -> Schema:
    declared = cast("Schema", schema.get("properties", {}))
    additional = schema.get("additionalProperties", True)
    properties = {name: one if name in names else False for name, one in declared.items()}
    properties |= {name: additional for name in names if name not in declared}
    return {**schema, "properties": properties, "additionalProperties": False}


def _matching(schema: Schema, pattern: str) -> Schema | None:
    declared = cast("Schema", schema.get("properties", {}))
    patterns = cast("Schema", schema.get("patternProperties", {}))
    rest = schema.get("additionalProperties", True)
    try:
        names = left = Language.of(pattern)
        properties = {name: one if names.has(name) else False for name, one in declared.items()}
        found: Schema = {}
        for other, one in patterns.items():
            both, left = names & Language.of(other), left & ~Language.of(other)
            found |= {} if both.is_empty else {both.pattern(): one}
        if rest is not False and not left.is_empty:
            found |= {left.pattern() if patterns else pattern: rest}
    except UnknownPatternError:
        return None
    kept = {**schema, "properties": properties} if declared else schema
    return {**kept, "patternProperties": found, "additionalProperties": False}
