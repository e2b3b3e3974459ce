"""Definitions whose every value holds another one of the same: no text of them ends."""

from collections.abc import Container
from functools import reduce
from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.locate import keyword_paths
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, step, subschemas
from pie_mlx.engine.text.json_pointer import inside, pointer, referred
from pie_mlx.errors import GrammarError

_PASSES = 20
"""Definitions that need more to be told from endless ones are let through."""
_DEFINITIONS = ("$defs", "definitions")


def check_endings(schema: Schema) -> None:
    """Raises GrammarError for a reference to a definition that no finite value fits. What is hard to tell is let
    through."""
    if keyword_paths(schema, "$id") not in ([], ["$.$id"]):
        return
    used = _references(schema)
    for ref in _endless({ref: target for ref, (_, target) in used.items()}):
        raise GrammarError(
            f"schema: {used[ref][0]}: every value of {ref} holds another one, without end",
            hint="make a property on the way optional, or allow null for it",
        )


def _references(schema: Schema) -> dict[str, tuple[str, Any]]:
    """The place and the target of every reference that a value can come by."""
    found: dict[str, tuple[str, Any]] = {}
    waiting = [("$", schema)]
    while waiting:
        path, current = waiting.pop()
        ref = current.get("$ref")
        keys = pointer(ref)
        if isinstance(ref, str) and ref not in found and keys is not None:
            target = referred(ref, schema)
            found[ref] = step(path, "$ref"), target
            if isinstance(target, dict):
                waiting.append((reduce(step, keys, "$"), cast("Schema", target)))
        waiting += [(place, inner) for place, inner, kind in subschemas(current, path) if kind not in _DEFINITIONS]
    return found


def _endless(targets: dict[str, Any]) -> list[str]:
    """References to what no finite value fits: those left when all are taken away whose values can end."""
    left = dict(reversed(targets.items()))
    for _ in range(_PASSES):
        before = len(left)
        for ref, target in list(left.items()):
            if _ends(target, left):
                del left[ref]
        if len(left) == before:
            return list(reversed(left))
    return []


def _ends(schema: Any, open_refs: Container[object]) -> bool:
    """Whether some value needs no value of the open references."""
    if not isinstance(schema, dict) or "const" in schema or "enum" in schema:
        return True
    fields = cast("Schema", schema)
    together = _list(fields.get("allOf")) + _needed(fields)
    choices = [_list(fields.get(keyword)) for keyword in ("anyOf", "oneOf")]
    return (
        str(fields.get("$ref")) not in open_refs
        and all(_ends(part, open_refs) for part in together)
        and all(any(_ends(part, open_refs) for part in parts) for parts in choices if parts)
    )


def _needed(schema: Schema) -> list[Any]:
    """The schemas of what every value of this one has inside."""
    match schema:
        case {"type": "object" | ["object"]}:
            return [inside(schema.get("properties"), str(name)) for name in _list(schema.get("required"))]
        case {"type": "array" | ["array"], "minItems": int(least)}:
            items = schema.get("items")
            leading = _list(schema.get("prefixItems", items))
            return leading[:least] + [items] * (least > len(leading))
        case _:
            return []


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
