"""Where in a schema lies what an engine refuses."""

import re
import time
from collections.abc import Callable

from pie_mlx.engine.text.grammar.json_schema.schema import Schema, step, subschemas

_UNIMPLEMENTED = re.compile(r"Unimplemented keys: \[(.*)\]")
_MAXIMUM_PROBES = 300
_MAXIMUM_SECONDS = 3.0

Probe = Callable[[Schema], str]
"""Why a schema is refused, "" when it is not."""


def locate(schema: Schema, message: str, refusal: Probe) -> list[tuple[str, str]]:
    """Path and reason of each part of `schema` that made the engine say `message`.

    A keyword the engine names is looked up; anything else is narrowed down by compiling ever smaller parts, for a few
    seconds.
    """
    found = _UNIMPLEMENTED.search(message)
    if found:
        keywords = re.findall(r'"([^"]+)"', found[1])
        places = [place for keyword in keywords for place in keyword_paths(schema, keyword)]
        if places:
            return [(place, "is not enforceable") for place in places]
    return [(_narrow(schema, message, refusal), message)]


def keyword_paths(schema: Schema, keyword: str, path: str = "$") -> list[str]:
    """Every place where a schema, or one inside it, uses a keyword."""
    found = [step(path, keyword)] if keyword in schema else []
    for place, inner, _ in subschemas(schema, path):
        found += keyword_paths(inner, keyword, place)
    return found


def _narrow(schema: Schema, message: str, refusal: Probe) -> str:
    definitions = {key: schema[key] for key in ("$defs", "definitions") if key in schema}
    path, current, probes = "$", schema, 0
    end = time.monotonic() + _MAXIMUM_SECONDS
    while True:
        for place, inner, _ in subschemas(current, path):
            probes += 1
            if probes > _MAXIMUM_PROBES or time.monotonic() > end:
                return path
            if refusal({**definitions, **inner}) == message:
                path, current = place, inner
                break
        else:
            return path
