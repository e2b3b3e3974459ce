"""Patterns as JSON Schema has them, which are those of JavaScript, in the engine's syntax."""

import re
from typing import cast

from pie_mlx.engine.text.grammar.json_schema.patterns.language import Language
from pie_mlx.engine.text.grammar.json_schema.patterns.syntax import UnknownPatternError
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas

_CLASS_OR_BRACE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?!\d+(?:,\d*)?\})", re.DOTALL)
_IN_CLASS = re.compile(r"\\.|\[|&(?=&)|~(?=~)", re.DOTALL)
_LOOK_AHEAD = re.compile(r"\(\?[=!]")


def with_engine_patterns(schema: Schema) -> Schema:
    """The same schema: braces that repeat nothing are escaped, and look-ahead is written without."""
    kept = dict(schema)
    if isinstance(kept.get("pattern"), str):
        kept["pattern"], *others = _patterns(kept["pattern"])
        kept |= {"allOf": [*kept.get("allOf", []), *({"pattern": one} for one in others)]} if others else {}
    named = kept.get("patternProperties")
    if isinstance(named, dict):
        kept["patternProperties"] = {_pattern(str(name)): one for name, one in cast("Schema", named).items()}
    return replace_subschemas(kept, with_engine_patterns)


def _patterns(pattern: str) -> list[str]:
    """Patterns that a text fits together if it fits this one."""
    if not _LOOK_AHEAD.search(pattern):
        return [_escaped(pattern)]
    try:
        return [language.pattern() for language in Language.factors(pattern)]
    except UnknownPatternError:
        return [pattern]


def _pattern(pattern: str) -> str:
    if not _LOOK_AHEAD.search(pattern):
        return _escaped(pattern)
    try:
        return Language.of(pattern).pattern()
    except UnknownPatternError:
        return pattern


def _escaped(pattern: str) -> str:
    """Braces, and what other languages nest and intersect in classes of characters, stand for themselves."""
    return _CLASS_OR_BRACE.sub(lambda found: _part(found[0]), pattern)


def _part(part: str) -> str:
    if part == "{":
        return r"\{"
    if not part.startswith("[") or "[:" in part:
        return part
    return "[" + _IN_CLASS.sub(lambda found: found[0] if found[0][0] == "\\" else f"\\{found[0]}", part[1:])
