"""Refuses grammars on which an engine would end the process, or run for ever.

Engines recurse from a rule, or from a reference in a schema, into what it names. The threads they compile on have
stacks for as many levels as are allowed here.
"""

import re
from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.numbers import check_divisors, check_lowest
from pie_mlx.engine.text.grammar.json_schema.schema import Schema
from pie_mlx.engine.text.json_pointer import referred
from pie_mlx.errors import GrammarError

MAXIMUM_LEVELS = 20_000
"""Levels of a schema and of everything it refers to, put below one another."""
MAXIMUM_RULES = 20_000

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_RULE = re.compile(r"^[ \t]*[?!]*[\w.\-]+[^:\n]*:", re.MULTILINE)


def check_safe(schema: Schema) -> None:
    """Raises GrammarError for a schema that no engine may be given."""
    check_divisors(schema)
    check_lowest(schema)
    _check_levels(schema)


def _check_levels(schema: Schema) -> None:
    """Raises GrammarError for references that lead too deep when each is followed from the last."""
    levels: dict[int, int] = {}
    refs: set[str] = set()
    deepest = _count(schema, levels, refs)
    total = deepest + sum(_levels_of(ref, schema, levels, deepest) for ref in refs)
    if total > MAXIMUM_LEVELS:
        raise GrammarError(
            f"schema: its {len(refs)} references lead {total} levels deep, at most {MAXIMUM_LEVELS} are followed",
            hint="use fewer definitions",
        )


def check_rules(source: str) -> None:
    """Raises GrammarError for a grammar, in Lark or in GBNF, of too many rules."""
    rules = len(_RULE.findall(source))
    if rules > MAXIMUM_RULES:
        raise GrammarError(
            f"grammar: about {rules} rules, at most {MAXIMUM_RULES} are compiled", hint="put several into one"
        )


def _count(value: Any, levels: dict[int, int], refs: set[str]) -> int:
    """The levels of a JSON value, and of each in it by identity; its references are gathered."""
    if not isinstance(value, dict | list):
        return 0
    if isinstance(value, dict):
        fields = cast("Schema", value)
        refs.update(target for key in _REFERENCES if isinstance(target := fields.get(key), str))
        parts = list(fields.values())
    else:
        parts = cast("list[Any]", value)
    found = 1 + max((_count(part, levels, refs) for part in parts), default=0)
    levels[id(value)] = found  # pyright: ignore[reportUnknownArgumentType]
    return found


def _levels_of(ref: str, schema: Schema, levels: dict[int, int], otherwise: int) -> int:
    return levels.get(id(referred(ref, schema)), otherwise)
