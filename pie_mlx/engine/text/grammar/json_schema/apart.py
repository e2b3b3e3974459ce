"""Conditions between properties in keywords that engines know: branches of `oneOf` that shut one another out, and which
properties must not come, or come together."""

from collections import Counter
from collections.abc import Callable
from math import prod
from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.conditions.cases import asserting
from pie_mlx.engine.text.grammar.json_schema.conditions.complement import complement
from pie_mlx.engine.text.grammar.json_schema.conditions.fitting import fits
from pie_mlx.engine.text.grammar.json_schema.schema import Schema, replace_subschemas
from pie_mlx.engine.text.json_pointer import referred
from pie_mlx.engine.text.value_kinds import KINDS, TEXT_ALONE, kinds_of

AllowsNothing = Callable[[Schema], bool]
"""Whether no text is of a schema, for certain."""

_OBJECTS = frozenset({"object"})
_OF_OBJECTS = frozenset(
    {"type", "properties", "required", "additionalProperties", "patternProperties", "minProperties"}
)
"""Keywords that refuse no value but objects, `type` beside."""
_MOST_ALTERNATIVES = 100
"""Alternatives of one branch, to be outside of all others."""
_LEVELS = 8
"""References that are followed from one branch."""


def with_branches_apart(schema: Schema, allows_nothing: AllowsNothing) -> Schema:
    """A schema for the same values, or for fewer: a value that several branches of a `oneOf` fit is in none of them.

    A `oneOf` stays as it is where nothing tells its branches apart, and inside of conditions that may refuse a value
    for fitting. `allows_nothing` asks the engine, of schemas of texts.
    """
    return _Apart(schema, allows_nothing).rewritten(schema)


class _Apart:
    """Branches are judged as they were written: what is left of one tells less of what it refuses."""

    def __init__(self, root: Schema, allows_nothing: AllowsNothing) -> None:
        self._root = root
        self._allows_nothing = allows_nothing

    def rewritten(self, schema: Schema) -> Schema:
        positive = {key: value for key, value in schema.items() if key not in ("not", "if")}
        inside = replace_subschemas(positive, self.rewritten)
        found = {key: inside.get(key, value) for key, value in schema.items()}
        branches = found.get("oneOf")
        if isinstance(branches, list):
            made = self._exclusive(cast("list[Any]", branches), schema)
            if made is None:
                return {**found, "oneOf": schema["oneOf"]}  # the engine judges what was written, too
            del found["oneOf"]
            if "anyOf" not in found:
                return {**found, "anyOf": made}
            found["allOf"] = [*found.get("allOf", []), {"anyOf": made}]
        return found

    def _exclusive(self, branches: list[Any], schema: Schema) -> list[Schema] | None:
        """The branches as alternatives of which no two fit one value; None where that is hard to tell."""
        pairs = [pair for pair in zip(branches, schema["oneOf"], strict=True) if pair[0] is not False]
        if not all(isinstance(branch, dict) for branch, _ in pairs):
            return None
        parent = _Facts(schema, self._root, without="oneOf")
        facts = [_Facts(written, self._root, inside=parent) for _, written in pairs]
        of_several = _kinds_of_several(facts)
        for one in facts:
            one.kinds -= of_several
        made: list[Schema] = []
        for (branch, _), one in zip(pairs, facts, strict=True):
            overlapping = [other for other in facts if other is not one and not self._are_disjoint(one, other)]
            if not one.kinds or any(one.implies(other) for other in overlapping):
                continue
            left = self._outside(cast("Schema", branch), one, overlapping)
            if left is None:
                return None
            made += [{"type": sorted(one.kinds), "allOf": [branch]} for branch in left] if of_several else left
        return made

    def _are_disjoint(self, one: "_Facts", other: "_Facts") -> bool:
        if one.is_disjoint(other):
            return True
        definitions = {key: self._root[key] for key in ("$schema", "$defs", "definitions") if key in self._root}
        are_texts = one.kinds == other.kinds == TEXT_ALONE and "pattern" in one.asked & other.asked
        return bool(are_texts) and self._allows_nothing({**definitions, "allOf": [one.schema, other.schema]})

    def _outside(self, branch: Schema, one: "_Facts", others: list["_Facts"]) -> list[Schema] | None:
        """A branch without the values that fit one of the others, [] where none is left; None where that is hard to
        tell."""
        absent: set[str] = set()
        parts: list[list[Schema]] = []
        for other in others:
            if absent & other.required:
                continue
            if one.values is not None and (left := self._left_of(one.values, other.schema)) is not None:
                parts.append([{"enum": left}])
            elif name := one.distinguished_from(other):
                absent.add(name)
            elif refused := self._refused_by(other, one.kinds):
                parts.append(refused)
            else:
                return None
        if [{"enum": []}] in parts:
            return []
        if prod(map(len, parts)) > _MOST_ALTERNATIVES and (names := one.telling(others)):
            parts = [[{"type": "object", "required": names}]]
        made = _without(branch, absent)
        return [{"allOf": [made, *map(_any_of, parts)]} if parts else made]

    def _left_of(self, values: list[Any], other: Schema) -> list[Any] | None:
        """Those of some values that do not fit another branch; None where that is hard to tell."""
        found = [(value, fits(value, other, self._root)) for value in values]
        return None if any(fit is None for _, fit in found) else [value for value, fit in found if not fit]

    def _refused_by(self, other: "_Facts", kinds: frozenset[str]) -> list[Schema]:
        """What a branch refuses of these kinds; [] where nothing is known of one of them."""
        found = [part for part in complement(other.schema, self._root) if kinds_of(part, self._root) & kinds]
        known = frozenset[str]().union(*(kinds_of(part, self._root) for part in found))
        unknown = kinds - known  # those of which all fit the branch are none of the others
        fit = other.kinds - _OBJECTS if other.asked <= _OF_OBJECTS else frozenset[str]()
        return found if unknown <= fit else []


def _kinds_of_several(facts: list["_Facts"]) -> frozenset[str]:
    """The kinds of which every value fits two branches, or more: those that ask of objects alone."""
    found = Counter(kind for one in facts if one.asked <= _OF_OBJECTS for kind in one.kinds - _OBJECTS)
    return frozenset(kind for kind, count in found.items() if count > 1)


def _any_of(parts: list[Schema]) -> Schema:
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


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
        self.kinds: frozenset[str] = (inside.kinds if inside else KINDS) & kinds_of(schema, root)
        self.required: set[str] = set(inside.required) if inside else set()
        self.properties: dict[str, list[Any]] = {}
        self.values: list[Any] | None = None
        self.schema = schema
        self.asked: set[str] = set()
        self._asks_only_for_properties = schema.keys() <= {"type", "required"}
        self._root = root
        self._gather({key: value for key, value in schema.items() if key != without}, _LEVELS)
        values: list[Any] | None = self.values
        if values is not None:
            self.values = [value for value in values if fits(value, schema, root) is not False]

    def _gather(self, schema: Schema, levels: int) -> None:
        self.required |= {str(name) for name in schema.get("required", []) if isinstance(schema.get("required"), list)}
        for name, inner in cast("Schema", schema.get("properties", {})).items():
            self.properties.setdefault(name, []).append(inner)
        values = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(values, list):
            self.values = cast("list[Any]", values)
        self.asked |= asserting(schema).keys() - {"allOf", "$ref"} if levels else {"$ref"}
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

    def telling(self, others: list["_Facts"]) -> list[str]:
        """Properties whose values, where they are all there, tell this one from each of the others; [] where there are
        none."""
        found: set[str] = set()
        for other in others:
            shared = sorted(self.properties.keys() & other.properties.keys()) if other.kinds <= _OBJECTS else []
            name = next((name for name in shared if self._differ(name, other)), None)
            if name is None:
                return []
            found.add(name)
        return sorted(found)

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
