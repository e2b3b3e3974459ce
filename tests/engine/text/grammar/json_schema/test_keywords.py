"""Schemas of which the engine knows only parts, as people write them."""

import json
from typing import Any

import pytest

from pie_mlx.errors import GrammarError
from tests.engine.text.grammar.conftest import Language

DRAFT7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        ({"pattern": r"^\${[a-z]{2}}$", "type": "string"}, '"${ab}"', '"${abc}"'),
        ({"pattern": "^(?!all$).*$", "type": "string"}, '"allow"', '"all"'),
        ({"pattern": r"^(?!\.)[.a]+$", "type": "string"}, '"a."', '".a"'),
        ({"pattern": r"^(?=.*\d)(?=.*[a-z]).{3,40}$", "type": "string"}, '"a-1"', '"aaa"'),
        ({"pattern": "^(?:(?!--)[a-])+$", "type": "string"}, '"a-a"', '"a--a"'),
        ({"pattern": r"^[[\]&&~~]+$", "type": "string"}, '"[&]~"', '"a"'),
        ({"not": {"pattern": "^a+$"}, "type": "string"}, '"ab"', '"aa"'),
        ({"propertyNames": {"pattern": "^[a-z]+$", "maxLength": 2}}, '{"ab":1}', '{"abc":1}'),
        ({"propertyNames": {"minLength": 2}}, '{"ab":1}', '{"a":1}'),
        ({"properties": {"a": {"$ref": "#/shared"}}, "shared": {"type": "null"}}, '{"a":null}', '{"a":1}'),
        ({"properties": {"a": {"$ref": "#/$defs/A<B>"}}, "$defs": {"A<B>": {"const": 1}}}, '{"a":1}', '{"a":2}'),
        ({"properties": {"a": {}}, "required": ["b"]}, '{"b":1}', '{"b":1,"c":1}'),
        ({"properties": {"a": {}, "b": {}}, "additionalProperties": True, "minProperties": 1}, '{"b":1}', "{}"),
        ({"allOf": [{"properties": {"b": {}}}], "properties": {"a": {}}}, '{"a":1,"b":2}', "[}"),
        ({"oneOf": [{"properties": {"a": {"const": 2}}}, {"properties": {"a": {"const": 1}}}]}, '{"a":1}', "{}"),
        ({"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "^b"}]}, '"b"', '"c"'),
        ({"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "b$"}]}, '"a"', '"ab"'),
        ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, '{"a":1}', '"text"'),
        (
            {
                "type": "object",
                "required": ["a"],
                "properties": {"a": {"enum": ["xa", "yb"]}},
                "oneOf": [{"properties": {"a": {"pattern": "x"}}}, {"properties": {"a": {"pattern": "y"}}}],
            },
            '{"a":"yb"}',
            '{"a":"x"}',
        ),
        ({"oneOf": [{"enum": ["a", "b"]}, {"type": "string", "pattern": "^a"}]}, '"b"', '"a"'),
    ],
)
def test_what_is_written_in_other_keywords_holds(
    language: Language, schema: dict[str, Any], taken: str, refused: str
) -> None:  # G13
    matcher = language.compile("json_schema", json.dumps(schema))
    assert language.accepts(matcher, taken)
    assert not language.accepts(matcher, refused)


def test_what_is_beside_a_reference_is_left_out_where_the_dialect_says_so_and_the_engine_needs_it(
    language: Language,
) -> None:
    node: dict[str, Any] = {
        "type": "object",
        "properties": {"next": {"minProperties": 0, "$ref": "#/definitions/node"}},
    }
    schema = {"definitions": {"node": node}, "$ref": "#/definitions/node"}
    assert language.accepts(
        language.compile("json_schema", json.dumps({"$schema": DRAFT7, **schema})), '{"next":{"next":{}}}'
    )
    with pytest.raises(GrammarError, match="circular"):
        language.compile("json_schema", json.dumps(schema))


def test_conditions_that_leave_too_many_cases_are_refused_by_name(language: Language) -> None:
    names = [f"p{place}" for place in range(120)]
    schema = {
        "type": "object",
        "dependentRequired": {one: [other] for one, other in zip(names, names[60:], strict=False)},
    }
    with pytest.raises(GrammarError, match=r"\$\.dependentRequired: is not enforceable"):
        language.compile("json_schema", json.dumps(schema))


@pytest.mark.parametrize(
    "broken",
    [
        {"properties": [], "not": {"required": ["a"]}},
        {"required": "a", "properties": {"b": {}}},
        {"required": 3, "properties": {"b": {}}, "dependentRequired": {"a": ["b"]}},
        {"oneOf": [{"properties": 1}, {"type": 3}]},
        {"allOf": {"if": {}}, "not": {"pattern": 1}},
        {"if": {"enum": 1}, "then": {"properties": None}, "dependencies": []},
        {"$ref": "#/odd", "odd": {"type": "oops"}, "$defs": []},
        {"type": "array", "uniqueItems": True, "items": {"enum": 3}},
    ],
    ids=str,
)
def test_keywords_of_wrong_types_are_refused(language: Language, broken: dict[str, Any]) -> None:
    with pytest.raises(GrammarError, match=r"^schema: \$"):
        language.compile("json_schema", json.dumps(broken))


def test_branches_of_many_kinds_are_told_apart_by_a_property_that_names_them(language: Language) -> None:
    kinds = [f"kind{number}" for number in range(9)]
    branches = [{"properties": {"type": {"enum": [kind]}, kind: {"type": "integer"}, "size": {"type": "integer"}},
                 "required": ["size"]} for kind in kinds]  # fmt: skip
    matcher = language.compile("json_schema", json.dumps({"type": "object", "oneOf": branches}))
    assert language.accepts(matcher, '{"type":"kind3","kind3":1,"size":2}')
    assert not language.accepts(matcher, '{"type":"kind3","kind3":"x","size":2}')
    assert not language.accepts(matcher, '{"size":2}')


@pytest.mark.parametrize(
    ("bounds", "taken", "refused"),
    [
        ({"exclusiveMinimum": 1, "maximum": 1.5}, ["1.1", "1.5", "1.00000001"], ["1", "1.0", "1.6"]),
        ({"exclusiveMinimum": 0, "exclusiveMaximum": 0.5}, ["0.1", "0.00000001"], ["0", "0.0", "0.5"]),
        ({"exclusiveMaximum": -1, "minimum": -1.5}, ["-1.1", "-1.5"], ["-1", "-1.0", "-1.6"]),
        ({"exclusiveMaximum": 0, "minimum": -0.5}, ["-0.1", "-0.5"], ["-0", "0", "-0.0"]),
        ({"allOf": [{"exclusiveMinimum": 2}, {"maximum": 2.5}]}, ["2.2"], ["2", "2.0"]),
        ({"exclusiveMinimum": 1, "maximum": 1.5, "multipleOf": 0.5}, ["1.5"], ["1", "1.0"]),
        ({"minimum": 1, "exclusiveMinimum": True, "maximum": 1.5}, ["1.1"], ["1", "1.0"]),
        ({"maximum": 1.5, "exclusiveMaximum": True, "exclusiveMinimum": 1}, ["1.1", "1.4"], ["1", "1.5", "1.50"]),
        ({"exclusiveMinimum": 1, "exclusiveMaximum": 2}, ["1.5"], ["1", "2"]),
        ({"not": {"enum": [1, 1.5]}}, ["1.2", "0", "2"], ["1", "1.0", "1.5"]),
    ],
)
def test_a_bound_that_is_excluded_is_excluded_beside_every_other(
    language: Language, bounds: dict[str, Any], taken: list[str], refused: list[str]
) -> None:
    matcher = language.compile("json_schema", json.dumps({"type": "number", **bounds}))
    assert [text for text in taken if not language.accepts(matcher, text)] == []
    assert [text for text in refused if language.accepts(matcher, text)] == []
