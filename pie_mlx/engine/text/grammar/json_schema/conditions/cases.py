"""In which cases a schema is met, and in which it is not."""

from typing import Any, cast

from pie_mlx.engine.text.grammar.json_schema.conditions.case import (
    OBJECTS,
    OTHERS,
    Case,
    Clause,
    Values,
    of_objects,
    together,
)
from pie_mlx.engine.text.grammar.json_schema.conditions.complement import KINDS, LEVELS, complement
from pie_mlx.engine.text.grammar.json_schema.schema import Schema
from pie_mlx.engine.text.json_pointer import referred
from pie_mlx.engine.text.value_kinds import value_kinds

CONDITIONS = frozenset({"not", "if", "then", "else", "dependencies", "dependentRequired", "dependentSchemas"})
_MOST_CASES = 400
_MOST_WORK = 10_000
"""Pairs of cases that are compared for one document."""
_MOST_VALUES = 64

_TOLD = CONDITIONS | {"type", "required", "properties", "allOf", "anyOf", "oneOf", "$ref"}
"""Keywords of which cases tell all."""
_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "$comment", "deprecated", "markdownDescription"}
)  # fmt: skip
_SMALL = 4
"""Properties of a definition that is written into cases, and not referred to."""


class UnknownCasesError(Exception):
    """A condition of which no case is known, or that leaves too many."""


class Cases:
    """The cases of the schemas of one document. Methods raise UnknownCasesError."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._work_left = _MOST_WORK

    def known(self, beside: Schema) -> Case:
        """What holds of every value of a schema, as far as that tells cases apart."""
        required = beside.get("required", [])
        present = frozenset(map(str, cast("list[Any]", required))) if isinstance(required, list) else frozenset[str]()
        properties = cast("Schema", beside.get("properties", {}))
        found = {name: values for name, one in properties.items() if (values := self._values(one)) is not None}
        return Case(_kinds(beside), present, values=found)

    def of(self, conditions: Schema, known: Case) -> list[Case]:
        """The cases that the condition keywords of a schema leave."""
        clauses = sorted(self._clauses(conditions, LEVELS), key=lambda clause: len(clause.cases))
        found = _by_value(known, clauses)
        for clause in clauses:
            found = self._together(found, clause)
        if not found:
            raise UnknownCasesError
        return found

    def _clauses(self, conditions: Schema, levels: int) -> list[Clause]:
        found: list[Clause] = []
        for key, value in conditions.items():
            match key:
                case "allOf":
                    found += [Clause(self._holds(part, levels)) for part in cast("list[Any]", value)]
                case "not":
                    found.append(Clause(self._fails(value, levels)))
                case "if":
                    then, otherwise = conditions.get("then", True), conditions.get("else", True)
                    found.append(Clause(self._choice(value, then, otherwise, levels)))
                case "dependencies" | "dependentRequired" | "dependentSchemas":
                    found += [self._depends(name, needed, levels) for name, needed in cast("Schema", value).items()]
                case "minProperties":
                    found.append(Clause(_any_of(conditions["properties"])))
                case _:
                    pass
        return found

    def _together(self, cases: list[Case], clause: Clause) -> list[Case]:
        self._work_left -= len(cases) * len(clause.cases)
        found = together(cases, clause) if self._work_left > 0 else []
        if self._work_left <= 0 or len(found) > _MOST_CASES:
            raise UnknownCasesError
        return found

    def _depends(self, name: str, needed: Any, levels: int) -> Clause:
        names = [needed] if isinstance(needed, str) else needed
        with_it = self._holds({"required": names} if isinstance(names, list) else needed, levels)
        here = Case(OBJECTS, present=frozenset({name}))
        without_it = of_objects(Case(OBJECTS, absent=frozenset({name})))
        return Clause([*without_it, *self._together([here], Clause(with_it))], with_it)

    def _choice(self, condition: Any, then: Any, otherwise: Any, levels: int) -> list[Case]:
        holds = self._together(self._holds(condition, levels), Clause(self._holds(then, levels)))
        return holds + self._together(self._fails(condition, levels), Clause(self._holds(otherwise, levels)))

    def _holds(self, schema: Any, levels: int) -> list[Case]:
        """The cases in which a schema is met."""
        if not isinstance(schema, dict):
            return [] if schema is False else [Case()]
        fields = asserting(cast("Schema", schema))
        if not fields.keys() <= _TOLD:
            return [Case(_kinds(fields), schemas=(fields,))]
        found = [Case(_kinds(fields), schemas=_whole_numbers(fields))]
        for clause in [*self._clauses(fields, levels), *self._plain_clauses(fields, levels)]:
            found = self._together(found, clause)
        return found

    def _plain_clauses(self, fields: Schema, levels: int) -> list[Clause]:
        found: list[list[Case]] = []
        if "required" in fields:
            found.append(of_objects(Case(OBJECTS, present=frozenset(map(str, fields["required"])))))
        if "properties" in fields:
            found.append(of_objects(self._with_properties(fields["properties"])))
        if "anyOf" in fields:
            found.append([one for part in fields["anyOf"] for one in self._holds(part, levels)])
        if "oneOf" in fields:
            found.append(self._one_of(fields["oneOf"], levels))
        if "$ref" in fields:
            found.append(self._holds_there(fields["$ref"], levels))
        return list(map(Clause, found))

    def _holds_there(self, ref: Any, levels: int) -> list[Case]:
        target = referred(ref, self._root)
        fields = asserting(cast("Schema", target)) if isinstance(target, dict) else None
        is_small = fields is not None and fields.keys() <= _TOLD and len(fields.get("properties", ())) <= _SMALL
        return self._holds(fields, levels - 1) if levels and is_small else [Case(schemas=({"$ref": ref},))]

    def _with_properties(self, properties: Any) -> Case:
        absent: set[str] = set()
        values: dict[str, Values] = {}
        schemas: dict[str, list[Schema]] = {}
        for name, one in cast("Schema", properties).items():
            known = self._values(one)
            if one is False:
                absent.add(name)
                continue
            schemas[name] = [] if known is not None else [cast("Schema", one) if isinstance(one, dict) else {}]
            if known is not None:
                values[name] = known
        return Case(OBJECTS, absent=frozenset(absent), values=values, properties=schemas)

    def _one_of(self, branches: list[Any], levels: int) -> list[Case]:
        found: list[Case] = []
        for branch in branches:
            cases = self._holds(branch, levels)
            for other in branches:
                if other is not branch:
                    cases = self._together(cases, Clause(self._fails(other, levels)))
            found += cases
        return found

    def _fails(self, schema: Any, levels: int) -> list[Case]:
        """Cases in which a schema is not met: all, or most."""
        found = self._failing(schema, levels)
        if not found and schema is not True and schema != {}:
            raise UnknownCasesError
        return found

    def _failing(self, schema: Any, levels: int) -> list[Case]:
        """The same, none of a schema whose failing is not known."""
        if not isinstance(schema, dict):
            return [Case()] if schema is False else []
        fields = asserting(cast("Schema", schema))
        if "$ref" in fields:  # in old dialects what is beside it does not count
            return self._failing(referred(fields["$ref"], self._root), levels - 1) if levels else []
        found = self._failing_properties(fields)
        for key, value in fields.items():
            match key:
                case "required" | "properties":
                    pass
                case "allOf":
                    found += [one for part in value for one in self._failing(part, levels)]
                case "anyOf" | "oneOf":
                    outside = [Case()]
                    for part in value:
                        outside = self._together(outside, Clause(self._failing(part, levels)))
                    found += outside
                case "not":
                    found += self._holds(value, levels)
                case "type":
                    kinds = _kinds(fields, refused=True)
                    found += [Case(kinds)] if kinds else []
                case _:
                    found += [Case(schemas=(other,)) for other in complement({key: value}, self._root, levels)]
        return found

    def _failing_properties(self, fields: Schema) -> list[Case]:
        found: list[Case] = []
        required = [str(name) for name in fields.get("required", [])]
        for place, name in enumerate(required):
            found.append(Case(OBJECTS, present=frozenset(required[:place]), absent=frozenset({name})))
        for name, one in cast("Schema", fields.get("properties", {})).items():
            known, here = self._values(one), frozenset({name})
            if known is not None:
                found.append(Case(OBJECTS, present=here, values={name: known.complement}))
            elif others := complement(one, self._root):
                found.append(Case(OBJECTS, present=here, properties={name: [{"anyOf": others}]}))
        return found

    def _values(self, schema: Any, levels: int = LEVELS) -> Values | None:
        """The values of a schema that names them, or names those that it refuses; None of any other."""
        if not isinstance(schema, dict) or not levels:
            return None
        match asserting(cast("Schema", schema)):
            case {"const": value, **rest} if rest.keys() <= {"type"}:
                return Values((value,) if value_kinds(value) & _named(rest) else ())
            case {"enum": listed, **rest} if isinstance(listed, list) and rest.keys() <= {"type"}:
                return Values(tuple(value for value in cast("list[Any]", listed) if value_kinds(value) & _named(rest)))
            case {"type": "null", **rest} if not rest:
                return Values((None,))
            case {"type": "boolean", **rest} if not rest:
                return Values((True, False))
            case {"not": refused, **rest} if not rest:
                inner = self._values(refused, levels - 1)
                return None if inner is None else inner.complement
            case {"anyOf": parts, **rest} | {"oneOf": parts, **rest} if isinstance(parts, list) and not rest:
                known = [self._values(part, levels - 1) for part in cast("list[Any]", parts)]
                few = [one for one in known if one is not None and not one.others]
                return Values(tuple(value for one in few for value in one.named)) if len(few) == len(known) else None
            case {"$ref": ref, **rest} if not rest:
                return self._values(referred(ref, self._root), levels - 1)
            case _:
                return None


def _by_value(known: Case, clauses: list[Clause]) -> list[Case]:
    """What is known, apart for each value of the property on whose values most clauses depend."""
    names = [name for clause in clauses for name in {name for case in clause.cases for name in case.values}]
    for name in sorted({*names}, key=names.count, reverse=True):
        values = known.values.get(name)
        if names.count(name) > 1 and values is not None and not values.others and len(values.named) <= _MOST_VALUES:
            one_of = [Case(OBJECTS, frozenset({name}), values={name: Values((value,))}) for value in values.named]
            return together([known], Clause([*of_objects(Case(OBJECTS, absent=frozenset({name}))), *one_of]))
    return [known]


def _any_of(properties: Schema) -> list[Case]:
    """Cases in which one of the properties is there."""
    names = list(properties)
    here = [
        Case(OBJECTS, frozenset({name}), absent=frozenset(names[:place])) for place, name in enumerate(names)
    ]  # fmt: skip
    return [*here, Case(OTHERS)]


def asserting(schema: Schema) -> Schema:
    """A schema without its annotations."""
    return {key: value for key, value in schema.items() if key not in _ANNOTATIONS}


def _named(schema: Schema) -> frozenset[str]:
    named: Any = schema.get("type", KINDS)
    names = frozenset[str]([named] if isinstance(named, str) else named)
    return names | {"integer"} if "number" in names else names


def _kinds(schema: Schema, *, refused: bool = False) -> frozenset[str]:
    """The kinds of the values of a schema by its `type`, or those that it refuses."""
    named = {"number" if kind == "integer" else kind for kind in _named(schema)}
    return frozenset(KINDS) - named if refused else frozenset(KINDS) & named


def _whole_numbers(schema: Schema) -> tuple[Schema, ...]:
    """What kinds leave out of a `type` of whole numbers alone."""
    named = schema.get("type", ())
    is_whole = named == "integer" or (isinstance(named, list) and "integer" in named and "number" not in named)
    return ({"type": named},) if is_whole else ()
