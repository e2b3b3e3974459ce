"""One of the alternatives that the conditions of a schema leave."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from pie_mlx.engine.text.grammar.json_schema.conditions.complement import KINDS, other_values
from pie_mlx.engine.text.grammar.json_schema.schema import Schema


@dataclass(frozen=True, slots=True)
class Values:
    """Some values, or all but those."""

    named: tuple[Any, ...]
    others: bool = False

    def both(self, other: "Values") -> "Values":
        """Those of two at once."""
        if self.others and other.others:
            return Values((*self.named, *(value for value in other.named if not _among(value, self.named))), True)
        few, rest = (other, self) if self.others else (self, other)
        return Values(tuple(value for value in few.named if _among(value, rest.named) is not rest.others))

    @property
    def complement(self) -> "Values":
        return Values(self.named, not self.others)

    @property
    def is_empty(self) -> bool:
        return not self.named and not self.others

    def is_within(self, other: "Values") -> bool:
        """Whether each of these is one of the other's, for certain."""
        if self.others:
            return other.others and all(_among(value, self.named) for value in other.named)
        return all(_among(value, other.named) is not other.others for value in self.named)

    def schema(self) -> Schema:
        return {"anyOf": other_values(list(self.named))} if self.others else {"enum": list(self.named)}


def _among(value: Any, values: tuple[Any, ...]) -> bool:
    return any(same(value, one) for one in values)


def same(one: Any, other: Any) -> bool:
    """Whether two JSON values are equal."""
    if isinstance(one, list) and isinstance(other, list):
        pairs = list(zip(cast("list[Any]", one), cast("list[Any]", other), strict=False))
        return len(one) == len(other) == len(pairs) and all(same(*pair) for pair in pairs)  # pyright: ignore
    if isinstance(one, dict) and isinstance(other, dict):
        mine, its = cast("Schema", one), cast("Schema", other)
        return mine.keys() == its.keys() and all(same(mine[key], its[key]) for key in mine)
    return one == other and isinstance(one, bool) == isinstance(other, bool)


OBJECTS = frozenset({"object"})
OTHERS = frozenset(KINDS) - OBJECTS


@dataclass(frozen=True, slots=True)
class Case:
    """What holds in it of a value: its kinds; for an object, properties that are there or are not, and values and
    schemas of some, in their order, where they are there; and whole schemas."""

    kinds: frozenset[str] = frozenset(KINDS)
    present: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    values: dict[str, Values] = field(default_factory=dict[str, Values])
    properties: dict[str, list[Schema]] = field(default_factory=dict[str, list[Schema]])
    schemas: tuple[Schema, ...] = ()

    def both(self, other: "Case") -> "Case | None":
        """What holds where both do; None where they contradict each other."""
        kinds, present, absent = self.kinds & other.kinds, self.present | other.present, {*self.absent, *other.absent}
        values = {**self.values}
        for name, one in other.values.items():
            values[name] = values[name].both(one) if name in values else one
        absent |= {name for name, one in values.items() if one.is_empty}
        if present & absent or not kinds:
            return None
        properties = {name: list(found) for name, found in self.properties.items()}
        for name, found in other.properties.items():
            known = properties.setdefault(name, [])
            known += [one for one in found if one not in known]
        schemas = (*self.schemas, *(one for one in other.schemas if one not in self.schemas))
        return Case(
            kinds,
            present,
            frozenset(absent),
            {name: one for name, one in values.items() if name not in absent},
            {name: found for name, found in properties.items() if name not in absent},
            schemas,
        )

    def implies(self, other: "Case") -> bool:
        """Whether the other holds wherever this one does, for certain."""
        return (
            self.kinds <= other.kinds
            and other.present <= self.present
            and other.absent <= self.absent
            and all(
                name in self.absent or (name in self.values and self.values[name].is_within(one))
                for name, one in other.values.items()
            )
            and all(
                name in self.absent or all(one in self.properties.get(name, []) for one in found)
                for name, found in other.properties.items()
            )
            and all(one in self.schemas for one in other.schemas)
        )

    def schema(self, known: "Case") -> Schema:
        """The case as a schema, for values of which something is `known`."""
        found: Schema = {}
        if self.kinds != frozenset(KINDS):
            found["type"] = sorted(self.kinds) if len(self.kinds) > 1 else next(iter(self.kinds))
        if names := sorted(self.present - known.present):
            found["required"] = names
        properties: Schema = {}
        for name in dict.fromkeys([*self.properties, *self.values]):
            mine = self.values.get(name)
            parts = [mine.schema()] if mine is not None and mine != known.values.get(name) else []
            parts += self.properties.get(name, [])
            if parts:
                properties[name] = parts[0] if len(parts) == 1 else {"allOf": parts}
        properties |= dict.fromkeys(sorted(self.absent), False)
        if properties:
            found["properties"] = properties
        parts = [*self.schemas, found] if found else list(self.schemas)
        return parts[0] if len(parts) == 1 else {"allOf": parts} if parts else {}


def of_objects(case: Case) -> list[Case]:
    """What restricts objects alone: the case of objects, and that of all other values."""
    return [case, Case(OTHERS)]


class Clause(NamedTuple):
    """Something that must hold: one of the `cases`. It does for certain where one of the `covers` holds."""

    cases: list[Case]
    covers: Sequence[Case] = ()


def together(cases: list[Case], clause: Clause) -> list[Case]:
    """The cases in which a clause holds."""
    found: list[Case] = []
    for case in cases:
        if any(case.implies(alternative) for alternative in [*clause.cases, *clause.covers]):
            found.append(case)
            continue
        found += [both for alternative in clause.cases if (both := case.both(alternative)) is not None]
    return found
