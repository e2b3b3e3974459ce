"""Properties whose names fit several patterns. Engines judge each by one schema alone, and refuse patterns that share
names."""

from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.names import EVERY_NAME
from pie_mlx.engine.text.grammar.json_schema.patterns.language import Language
from pie_mlx.engine.text.grammar.json_schema.patterns.syntax import UnknownPatternError
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas

_MOST_PATTERNS = 8


def with_names_apart(schema: Schema) -> Schema:
    """The same schema: a declared property is held to the patterns that its name fits, and no name fits two patterns.
    Patterns that are not known as languages stay as they are."""
    found = replace_subschemas(schema, with_names_apart)
    patterns = found.get("patternProperties")
    if not isinstance(patterns, dict) or not patterns:
        return found
    try:
        named = [(_names(pattern), one) for pattern, one in cast("Schema", patterns).items()]
        declared = {name: _judged(name, one, named) for name, one in found.get("properties", {}).items()}
        apart = _apart(named, found.get("additionalProperties", True))
    except UnknownPatternError:
        return found
    kept = {**found, "properties": declared} if declared else found
    return kept if apart is None else {**kept, "patternProperties": apart, "additionalProperties": False}


def _names(pattern: str) -> Language:
    return Language.of("" if pattern in EVERY_NAME else pattern)


def _judged(name: str, schema: Any, named: list[tuple[Language, Any]]) -> Any:
    return _all([schema, *(one for language, one in named if language.has(name))])


def _apart(named: list[tuple[Language, Any]], others: Any) -> Schema | None:
    """Patterns of which no two share names, with one for all `others`; None where there are none to be told apart."""
    if len(named) < 2 or len(named) > _MOST_PATTERNS:
        return None
    regions: list[tuple[Language, list[Any]]] = []
    rest = ~named[0][0]
    for language, schema in named:
        split: list[tuple[Language, list[Any]]] = []
        left = language
        for names, schemas in regions:
            split += [(names & language, [*schemas, schema]), (names & ~language, schemas)]
            left = left & ~names
        regions = [region for region in [*split, (left, [schema])] if not region[0].is_empty]
        rest = rest & ~language
    if all(len(schemas) == 1 for _, schemas in regions):
        return None
    regions += [] if rest.is_empty else [(rest, [others])]
    return {names.pattern(): one for names, schemas in regions if (one := _all(schemas)) is not False}


def _all(schemas: list[Any]) -> Any:
    asking = [schema for schema in schemas if schema is not True and schema != {}]
    if False in asking:
        return False
    return True if not asking else asking[0] if len(asking) == 1 else {"allOf": asking}
