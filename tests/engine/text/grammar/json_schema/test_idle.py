"""What restricts nothing is no reason to refuse a schema."""

import json
from typing import Any

import pytest

from pie_mlx.engine.text.grammar.json_schema.idle import without_idle
from tests.engine.text.grammar.conftest import Language

LIST: dict[str, Any] = {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    "idle",
    [
        {"uniqueItems": False},
        {"uniqueItems": True, "maxItems": 1},
        {"minContains": 2, "maxContains": 3},
        {"contains": {"const": 5}, "minContains": 0},
        {"if": {"minItems": 3}},
        {"then": False, "else": False},
        {"not": False},
        {"not": {"not": {}}},
        {"propertyNames": True},
        {"propertyNames": {}},
        {"dependentRequired": {}, "dependentSchemas": {}, "dependencies": {}},
        {"unevaluatedItems": True, "unevaluatedProperties": {}},
        {"unevaluatedItems": False},
    ],
    ids=str,
)
def test_a_keyword_that_restricts_nothing_is_not_refused(language: Language, idle: dict[str, Any]) -> None:  # G13
    matcher = language.compile("json_schema", json.dumps({"properties": {"a": {**LIST, **idle}}, "required": ["a"]}))
    assert matcher.warnings == ()
    assert language.accepts(matcher, '{"a":[1]}')
    assert not language.accepts(matcher, '{"a":["1"]}')


@pytest.mark.parametrize(
    "restricting",
    [
        {"uniqueItems": True},
        {"contains": {}},
        {"contains": {}, "minContains": 0, "maxContains": 1},
        {"if": {}, "then": False},
        {"not": {}},
        {"propertyNames": {"maxLength": 3}},
        {"unevaluatedProperties": False, "$ref": "#/x"},
        {"unevaluatedItems": False, "allOf": [{}]},
        {"unevaluatedItems": False, "items": [{}]},
        {"if": {"$id": "x"}},
    ],
    ids=str,
)
def test_a_keyword_that_may_restrict_stays(restricting: dict[str, Any]) -> None:
    assert without_idle(restricting) == restricting


def test_a_keyword_that_only_tells_what_is_evaluated_still_tells_it() -> None:
    assert without_idle({"unevaluatedItems": False, "if": {}}) == {"unevaluatedItems": False}


def test_what_is_not_evaluated_is_what_is_additional_where_nothing_else_looks(language: Language) -> None:  # G13
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "unevaluatedProperties": {"type": "boolean"}}
    matcher = language.compile("json_schema", json.dumps(schema), strict=False)
    assert language.accepts(matcher, '{"a":1,"b":true}')
    assert not language.accepts(matcher, '{"a":1,"b":2}')
    kept = {"additionalProperties": {"type": "null"}, "unevaluatedProperties": False}
    assert without_idle(kept) == {"additionalProperties": {"type": "null"}}
    assert without_idle({"prefixItems": [{}], "unevaluatedItems": False}) == {"prefixItems": [{}], "items": False}


def test_properties_named_as_keywords_are_left_alone() -> None:
    schema = {"properties": {"not": False, "if": {}, "uniqueItems": {"type": "null"}}, "enum": [{"not": False}]}
    assert without_idle(schema) == schema
