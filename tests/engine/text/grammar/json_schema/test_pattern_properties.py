"""Each property is held to everything that its name asks for."""

import json
from typing import Any

import pytest

from tests.engine.text.grammar.conftest import Language

TEXT: dict[str, Any] = {"type": "string"}
WHOLE: dict[str, Any] = {"type": "integer"}


@pytest.mark.parametrize(
    ("schema", "taken", "refused"),
    [
        ({"patternProperties": {"^a": TEXT, "b$": {"maxLength": 1}}}, '{"ab":"x","a":"xx"}', '{"ab":"xx"}'),
        ({"patternProperties": {"^a": TEXT, "b$": False}}, '{"a":"x","c":1}', '{"ab":"x"}'),
        ({"patternProperties": {"": WHOLE, "^_": {"minimum": 3}}}, '{"a":1,"_a":3}', '{"_a":1}'),
        ({"properties": {"abc": {}}, "patternProperties": {"^a": WHOLE}}, '{"abc":1}', '{"abc":"x"}'),
        ({"properties": {"abc": WHOLE}, "patternProperties": {"^a": {"maximum": 3}}}, '{"abc":3}', '{"abc":4}'),
        ({"patternProperties": {"^(?!@@)[@a]+$": TEXT}, "additionalProperties": False}, '{"@a":"x"}', '{"@@a":"x"}'),
        (
            {"propertyNames": {"pattern": "^a"}, "patternProperties": {"b$": WHOLE}, "additionalProperties": TEXT},
            '{"ab":1,"ac":"x"}',
            '{"b":1}',
        ),
    ],
)
def test_properties_are_held_to_all_patterns_that_their_names_fit(
    language: Language, schema: dict[str, Any], taken: str, refused: str
) -> None:
    matcher = language.compile("json_schema", json.dumps({"type": "object", **schema}))
    assert language.accepts(matcher, taken)
    assert not language.accepts(matcher, refused)
