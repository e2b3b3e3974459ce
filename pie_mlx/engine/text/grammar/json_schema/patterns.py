"""Patterns as JSON Schema has them, which are those of JavaScript, in the engine's syntax."""

import re
from typing import Any

from pie_mlx.engine.text.grammar.json_schema.conditions.complement import other_text
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas

_CLASS_OR_BRACE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\{(?!\d+(?:,\d*)?\})", re.DOTALL)
_NOT_AHEAD = re.compile(r"\^\(\?!((?:[^()\[\]{}.*+?^$|\\]|\\\W)+)(\$?)\)")
"""At the beginning of a pattern, what a text must not begin with, or be."""


def with_engine_patterns(schema: Schema) -> Schema:
    """The same schema: braces that repeat nothing are escaped, and texts that a pattern must not begin with, or must
    not be, are a pattern of their own."""
    kept = dict(schema)
    pattern = kept.get("pattern")
    if isinstance(pattern, str):
        apart = _NOT_AHEAD.match(pattern)
        if apart is not None:
            refused = re.sub(r"\\(.)", r"\1", apart[1])
            other = f"^{other_text([refused], beginnings=not apart[2])}$"
            kept["allOf"] = [*kept.get("allOf", []), {"pattern": other}]
            pattern = f"^{pattern[apart.end() :]}"
        kept["pattern"] = _escaped(pattern)
    named = kept.get("patternProperties")
    if isinstance(named, dict):
        kept["patternProperties"] = {_escaped(name): one for name, one in named.items()}  # pyright: ignore
    return replace_subschemas(kept, with_engine_patterns)


def _escaped(pattern: Any) -> str:
    return _CLASS_OR_BRACE.sub(lambda found: r"\{" if found[0] == "{" else found[0], str(pattern))
