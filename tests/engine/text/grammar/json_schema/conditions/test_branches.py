"""Conditions hold of everything that a grammar takes, and leave what they allow."""

import itertools
import json
import random
from typing import Any

import jsonschema
import pytest

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.errors import GrammarError
from tests.engine.text.grammar.suite import byte_service

DRAFT7 = "http://json-schema.org/draft-07/schema#"
NAMED: dict[str, Any] = {"type": "object", "required": ["kind"], "properties": {"kind": {"enum": ["a", "b", "c"]}}}
EXACT: dict[str, Any] = {
    "a property that must not come": {"type": "object", "not": {"required": ["a"]}},
    "one of two, not both": {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
    "other values": {"properties": {"a": {"not": {"enum": [0, "x", None]}}}},
    "other kinds": {"properties": {"a": {"not": {"type": ["string", "null"]}}}},
    "needs another": {"dependentRequired": {"a": ["b"], "b": ["c"]}},
    "needs a schema": {"$schema": DRAFT7, "dependencies": {"a": {"properties": {"b": {"const": 1}}}, "c": ["a"]}},
    "if a value": {**NAMED, "if": {"properties": {"kind": {"const": "a"}}}, "then": {"required": ["a"]}},
    "if not, else": {"if": {"not": {"required": ["a"]}}, "then": {"required": ["b"]}, "else": {"required": ["c"]}},
    "by value": {
        **NAMED,
        "allOf": [
            {"if": {"properties": {"kind": {"const": kind}}}, "then": {"required": [kind]}} for kind in ("a", "b", "c")
        ],
    },
    "listed names": {"propertyNames": {"enum": ["a", "b"]}},
    "names of a pattern": {"propertyNames": {"pattern": "^[ab]$"}, "additionalProperties": {"type": "integer"}},
    "branches by value": {
        "type": "object",
        "oneOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"type": ["null", "string"]}}}],
    },
}
VALUES = [0, 1, "x", "y", None]
INSTANCES: list[Any] = [
    dict(zip(names, values, strict=True))
    for count in range(3)
    for names in itertools.combinations(["kind", "a", "b", "c"], count)
    for values in itertools.product(*([["a", "b", "c"] if name == "kind" else VALUES for name in names]))
]


def takes(matcher: Matcher, tokens: dict[int, int], value: Any) -> bool:
    """In any order of its properties."""
    orders = [dict(pairs) for pairs in itertools.permutations(value.items())] if isinstance(value, dict) else [value]
    for order in orders:
        spelled = [tokens[byte] for byte in json.dumps(order).encode()]
        walk = matcher.fork()
        if walk.try_accept(spelled) == len(spelled) and walk.is_complete:
            return True
    return False


@pytest.mark.parametrize("name", EXACT)
def test_what_a_condition_allows_is_taken_and_nothing_else(name: str) -> None:  # G13
    schema = EXACT[name]
    service, tokens = byte_service()
    matcher = service.compile(GrammarSource("json_schema", json.dumps(schema), strict=False))
    assert matcher is not None
    validator = jsonschema.validators.validator_for(schema)(schema)
    found = {json.dumps(one): takes(matcher, tokens, one) for one in INSTANCES}
    assert found == {json.dumps(one): validator.is_valid(one) for one in INSTANCES}


class Made:
    """Schemas made up of conditions."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def of_object(self, depth: int = 2) -> dict[str, Any]:
        pick = self._random
        names = pick.sample("abc", 2)
        made: dict[str, Any] = {"properties": {name: self.of_value() for name in names}}
        made |= {"type": "object"} if pick.random() < 0.5 else {}
        made |= {"required": names[:1]} if pick.random() < 0.4 else {}
        inner = self.of_object
        match pick.randrange(7) if depth else 9:
            case 0:
                made["not"] = inner(depth - 1)
            case 1:
                made |= {"if": inner(depth - 1), "then": inner(depth - 1), "else": inner(depth - 1)}
            case 2:
                made["dependentSchemas"] = {names[0]: inner(depth - 1)}
            case 3:
                made["dependentRequired"] = {names[0]: names[1:]}
            case 4:
                made["propertyNames"] = {"enum": names}
            case 5 | 6 as kind:
                made["anyOf" if kind == 5 else "oneOf"] = [inner(depth - 1), inner(depth - 1)]
            case _:
                pass
        return made

    def of_value(self) -> Any:
        kinds = {"type": self._random.choice(["string", "integer", "null"])}
        named = {"enum": self._random.sample(VALUES, 2)}
        return self._random.choice([kinds, named, {"not": kinds}, {"not": named}, {"minimum": 1}, {"maxLength": 0}, {}])


@pytest.mark.parametrize("seed", range(4))
def test_no_value_that_a_validator_refuses_is_taken(seed: int) -> None:  # G13
    made, (service, tokens) = Made(seed), byte_service()
    compiled = 0
    for schema in [made.of_object() for _ in range(25)]:
        try:
            matcher = service.compile(GrammarSource("json_schema", json.dumps(schema), strict=False))
        except GrammarError:
            continue
        assert matcher is not None
        compiled += 1
        validator = jsonschema.Draft202012Validator(schema)
        invalid = [one for one in [*INSTANCES[::3], *VALUES] if not validator.is_valid(one)]
        assert [one for one in invalid if takes(matcher, tokens, one)] == [], schema
    assert compiled > 15
