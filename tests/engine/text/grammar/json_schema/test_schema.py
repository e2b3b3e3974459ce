"""Which objects of a schema are closed, and where its parts lie."""

import pytest

from pie_mlx.engine.text.grammar.json_schema.as_defined import as_defined
from pie_mlx.engine.text.grammar.json_schema.locate import keyword_paths
from pie_mlx.engine.text.grammar.json_schema.numbers import check_divisors, rounded_numbers, without_rounded_numbers
from pie_mlx.engine.text.grammar.json_schema.schema import close_objects, step
from pie_mlx.errors import GrammarError


def test_objects_inside_lists_maps_and_definitions_are_closed() -> None:  # G13
    inner = {"properties": {"x": {}}}
    schema = {"properties": {"a": inner}, "$defs": {"d": inner}, "anyOf": []}
    closed = close_objects({"items": inner, "$defs": {"d": inner}})
    assert closed["items"]["additionalProperties"] is False
    assert closed["$defs"]["d"]["additionalProperties"] is False
    assert close_objects(schema)["properties"]["a"]["additionalProperties"] is False


def test_what_a_schema_says_of_other_properties_is_kept() -> None:  # G13
    for said in ({"additionalProperties": True}, {"unevaluatedProperties": False}):
        schema = {"properties": {"a": {}}, **said}
        assert close_objects(schema) == schema


def test_an_object_without_properties_stays_open() -> None:  # G13
    assert close_objects({"type": "object"}) == {"type": "object"}


def test_branches_that_share_an_object_stay_open() -> None:
    both = {"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}
    assert close_objects(both) == both
    parent = {"properties": {"a": {}}, "anyOf": [{"properties": {"b": {}}}, {"required": ["a"]}]}
    assert close_objects(parent) == parent


def test_definitions_shared_with_other_branches_stay_open() -> None:
    schema = {"$defs": {"d": {"properties": {"a": {}}}}, "allOf": [{"$ref": "#/$defs/d"}, {"properties": {"b": {}}}]}
    assert close_objects(schema) == schema


def test_alternatives_are_closed_one_by_one() -> None:
    schema = {"anyOf": [{"properties": {"a": {}}}, {"type": "null"}]}
    assert close_objects(schema)["anyOf"][0]["additionalProperties"] is False


def test_properties_named_like_keywords_are_no_keywords() -> None:
    assert keyword_paths({"properties": {"not": {"type": "string"}}}, "not") == []
    assert keyword_paths({"properties": {"not": {"not": {}}}}, "not") == ["$.properties.not.not"]


def test_paths_quote_what_is_no_identifier() -> None:
    assert step("$", "a") == "$.a"
    assert step("$", "a b") == '$["a b"]'
    assert step("$", 3) == "$[3]"


def test_a_schema_as_defined_has_no_formats_and_plain_limits() -> None:  # G13
    schema = {"format": "date", "properties": {"format": {"format": "uri", "maxLength": 2.0}}, "items": [{"format": 1}]}
    assert as_defined(schema) == {"properties": {"format": {"maxLength": 2}}, "items": [{}]}


def test_in_draft_7_nothing_counts_beside_a_reference() -> None:
    schema = {"definitions": {"d": {}}, "items": {"$ref": "#/definitions/d", "maxItems": 2}}
    assert as_defined(schema)["items"] == schema["items"]
    draft7 = {"$schema": "http://json-schema.org/draft-07/schema#", **schema}
    assert as_defined(draft7)["items"] == {"$ref": "#/definitions/d"}


@pytest.mark.parametrize("divisor", [0.01, 1e300, 65_536, 1_000_000, 7.5, float("inf"), -3, True, "7"])
def test_divisors_that_need_few_states_are_kept(divisor: object) -> None:
    check_divisors({"properties": {"a": {"multipleOf": divisor}}})


@pytest.mark.parametrize("schema", [{"multipleOf": 123_456_789}, {"allOf": [{"multipleOf": 997}, {"multipleOf": 991}]}])
def test_divisors_that_take_an_engine_for_ever_are_refused(schema: dict[str, object]) -> None:
    with pytest.raises(GrammarError, match=r"\$.*multipleOf: needs \d+ states"):
        check_divisors(schema)


INT64 = 2**63 - 1


@pytest.mark.parametrize(
    "schema",
    [
        {"minimum": -(2**53), "maximum": 2**53},
        {"minimum": 0, "maximum": INT64},
        {"exclusiveMinimum": 2**53 - 1, "exclusiveMaximum": 2**53},
        {"exclusiveMaximum": 2**63},
        {"const": 2.0**62},
        {"enum": [2**53, 1e-300, True, {"x": [-(2**53)]}]},
        {"minimum": True, "maximum": "9"},
    ],
)
def test_numbers_that_engines_hold_exactly_are_kept(schema: dict[str, object]) -> None:  # G13
    assert rounded_numbers(schema) == []
    assert without_rounded_numbers(schema) == schema


@pytest.mark.parametrize(
    ("keyword", "value"),
    [
        ("minimum", 2**53 + 1),
        ("maximum", 2**64 - 1),
        ("maximum", 1e20),
        ("exclusiveMinimum", 2**53),
        ("exclusiveMaximum", -(2**53)),
        ("minimum", float("inf")),
        ("const", 2**53 + 1),
        ("enum", ["a", {"x": [2**63]}]),
        ("const", 10**400),
        ("const", -1e19),
        ("const", -(2.0**63)),
        ("enum", [1, {"x": [-(10**19)]}]),
        ("maximum", -(2**63)),
        ("exclusiveMaximum", -(2.0**63)),
    ],
)
def test_numbers_that_engines_would_round_are_found(keyword: str, value: object) -> None:  # G13
    schema = {"properties": {"a": {"type": "integer", keyword: value}}}
    assert rounded_numbers(schema) == [(f"$.properties.a.{keyword}", "has a number too large to be exact")]
    assert without_rounded_numbers(schema) == {"properties": {"a": {"type": "integer"}}}
