"""Conditions between properties in keywords that engines know: branches of `oneOf` that shut one another out, and which
properties must not come, or come together."""

from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas
from pie_mlx.engine.text.json_pointer import referred

_KINDS = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_OBJECTS = frozenset({"object"})
_LEVELS = 8
"""References that are followed from one branch."""


def with_branches_apart(schema: Schema) -> Schema:
    """A schema for the same values, or for fewer: a value that several branches of a `oneOf` fit is in none of them.

    A `oneOf` whose branches cannot be told apart by their types, constants and required properties stays as it is.
    """
    return _apart(schema, schema)


def _apart(schema: Schema, root: Schema) -> Schema:
    found = replace_subschemas(schema, lambda inner: _apart(inner, root))
    branches = found.get("oneOf")
    if isinstance(branches, list):
        made = _exclusive(cast("list[Any]", branches), found, root)
        if made is not None:
            del found["oneOf"]
            if "anyOf" not in found:
                return {**found, "anyOf": made}
            found["allOf"] = [*found.get("allOf", []), {"anyOf": made}]
    return found


def _exclusive(branches: list[Any], beside: Schema, root: Schema) -> list[Schema] | None:
    """The branches as alternatives of which no two fit one value; None where that is hard to tell."""
    kept = [branch for branch in branches if branch is not False]
    if not all(isinstance(branch, dict) for branch in kept):
        return None
    parent = _Facts(beside, root, without="oneOf")
    facts = [_Facts(cast("Schema", branch), root, inside=parent) for branch in kept]
    made: list[Schema] = []
    for branch, one in zip(kept, facts, strict=True):
        absent: set[str] = set()
        others = [other for other in facts if other is not one and not one.is_disjoint(other)]
        if any(one.implies(other) for other in others):
            continue
        for other in others:
            if absent & other.required:
                continue
            name = one.distinguished_from(other)
            if name is None:
                return None
            absent.add(name)
        made.append(_without(cast("Schema", branch), absent))
    return made


def _without(branch: Schema, absent: set[str]) -> Schema:
    if not absent:
        return branch
    shut: Schema = dict.fromkeys(sorted(absent), False)
    if "$ref" in branch:
        return {"allOf": [branch, {"type": "object", "properties": shut}]}
    return {**branch, "type": "object", "properties": {**branch.get("properties", {}), **shut}}


class _Facts:
    """What holds of every value of a schema: its types, its required properties and some of their schemas, and the
    values themselves where there are few."""

    def __init__(self, schema: Schema, root: Schema, *, inside: "_Facts | None" = None, without: str = "") -> None:
        self.kinds: frozenset[str] = inside.kinds if inside else _KINDS
        self.required: set[str] = set(inside.required) if inside else set()
        self.properties: dict[str, list[Any]] = {}
        self.values: list[Any] | None = None
        self._asks_only_for_properties = schema.keys() <= {"type", "required"}
        self._root = root
        self._gather({key: value for key, value in schema.items() if key != without}, _LEVELS)

    def _gather(self, schema: Schema, levels: int) -> None:
        kinds: Any = schema.get("type", [])
        named = {kinds} if isinstance(kinds, str) else set(cast("list[str]", kinds))
        if named:
            self.kinds &= named | {"integer"} if "number" in named else named
        self.required |= {str(name) for name in schema.get("required", []) if isinstance(schema.get("required"), list)}
        for name, inner in cast("Schema", schema.get("properties", {})).items():
            self.properties.setdefault(name, []).append(inner)
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(values, list):
            self.values = cast("list[Any]", values)
        parts = cast("list[Any]", schema.get("allOf", []))
        if "$ref" in schema:
            parts = [*parts, referred(str(schema["$ref"]), self._root)]
        for part in parts if levels else ():
            if isinstance(part, dict):
                self._gather(cast("Schema", part), levels - 1)

    def is_disjoint(self, other: "_Facts") -> bool:
        """Whether no value has the facts of both, for certain."""
        if not self.kinds & other.kinds:
            return True
        if self.values is not None and other.values is not None:
            return not any(_equal(one, two) for one in self.values for two in other.values)
        shared = self.required & other.required & self.properties.keys() & other.properties.keys()
        both_objects = self.kinds == other.kinds == _OBJECTS
        return both_objects and any(self._differ(name, other) for name in shared)

    def _differ(self, name: str, other: "_Facts") -> bool:
        one, two = (_Facts({"allOf": facts.properties[name]}, self._root) for facts in (self, other))
        return not one.kinds & two.kinds or (
            one.values is not None
            and two.values is not None
            and not any(_equal(first, second) for first in one.values for second in two.values)
        )

    def implies(self, other: "_Facts") -> bool:
        """Whether every value of this one is one of the other, for certain."""
        return other._asks_only_for_properties and other.required <= self.required and self.kinds <= other.kinds

    def distinguished_from(self, other: "_Facts") -> str | None:
        """A property that only the other needs: without it a value of this one is none of the other."""
        if "object" not in self.kinds or other.kinds != _OBJECTS:
            return None
        needed = sorted(other.required - self.required)
        return next((name for name in needed if name not in self.properties), needed[0] if needed else None)


def _equal(one: Any, other: Any) -> bool:
    return one == other and isinstance(one, bool) == isinstance(other, bool)
