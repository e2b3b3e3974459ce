"""Values in every spelling: as many more as the grammar can tell apart, and never another value."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.text.grammar.json_schema.spellings import with_every_spelling
from tests.engine.text.grammar.conftest import Language


def taken(language: Language, schema: object, texts: list[str], **options: object) -> list[bool]:
    matcher = language.compile("json_schema", json.dumps(schema), every_spelling=True, **options)
    assert matcher.warnings == ()
    return [language.accepts(matcher, text) for text in texts]


@pytest.mark.parametrize("keyword", ["const", "enum"])
def test_a_whole_number_may_have_a_fraction_of_zero(language: Language, keyword: str) -> None:
    schema = {keyword: -2.0 if keyword == "const" else ["no", -2]}
    assert taken(language, schema, ["-2", "-2.0"]) == [True, True]
    assert taken(language, schema, ["2.0", "-2.5", "-1.5", "-20", "-2.4", "-3", "-1"]) == [False] * 7


def test_the_properties_of_a_small_object_come_in_any_order(language: Language) -> None:
    schema = {"type": "object", "properties": {"a": {"enum": [1]}, "b": {"type": "null"}}, "required": ["a", "b"]}
    assert taken(language, schema, ['{"a":1,"b":null}', '{"b":null,"a":1}']) == [True, True]
    assert taken(language, schema, ['{"a":1}', '{"b":null,"b":null}', '{"b":null,"a":1,"c":2}']) == [False] * 3


def test_branches_share_the_order_of_their_object(language: Language) -> None:
    branches = [{"properties": {name: {"type": "integer"}}, "required": [name]} for name in "ab"]
    schema = {"type": "object", "allOf": branches}
    assert taken(language, schema, ['{"b":1,"a":2}', '{"a":2,"b":1}', '{"b":1}'], strict=False) == [True, True, False]


def test_a_large_object_keeps_the_order_of_its_schema(language: Language) -> None:
    names = "abcde"
    schema = {"type": "object", "properties": {name: {"const": True} for name in names}, "required": list(names)}
    texts = [json.dumps(dict.fromkeys(order, True)) for order in (names, names[::-1])]
    assert taken(language, schema, texts) == [True, False]


@pytest.mark.parametrize("dialect", ["http://json-schema.org/draft-07/schema#", ""])
def test_constants_inside_constants_have_spellings_too(language: Language, dialect: str) -> None:
    schema = (
        {"$schema": dialect, "const": {"a": [1, "x"], "b": 2.5}} if dialect else {"const": {"a": [1, "x"], "b": 2.5}}
    )
    texts = ['{"b":2.5,"a":[1.0,"x"]}', '{"a":[1,"x"],"b":2.5}', '{"a":[1,"y"],"b":2.5}', '{"a":[1,"x",1],"b":2.5}']
    assert taken(language, schema, texts) == [True, True, False, False]


def test_too_many_alternatives_leave_one_spelling_and_say_so(language: Language) -> None:
    schema: dict[str, Any] = {"const": 1}
    for _ in range(4):
        schema = {"type": "object", "properties": {name: schema for name in "abcd"}}
    assert with_every_spelling(schema) is None
    matcher = language.compile("json_schema", json.dumps(schema), every_spelling=True)
    assert any("one spelling" in warning for warning in matcher.warnings)


@given(st.integers(-(2**52), 2**52), st.decimals(-100, 100, places=2))
def test_numbers_are_told_apart(language: Language, value: int, other: Any) -> None:
    matcher = language.compile("json_schema", json.dumps({"const": value}), every_spelling=True)
    for text in (str(value), f"{value}.0", str(value + other), str(other)):
        if language.accepts(matcher, text):
            assert float(text) == value
    assert language.accepts(matcher, str(value))
