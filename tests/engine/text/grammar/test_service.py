"""Options of a schema that are no part of it."""

import json

import pytest

from pie_mlx.engine.text.logit_mask import only_token
from pie_mlx.errors import GrammarError
from tests.engine.text.grammar.conftest import Language

RECORD = json.dumps(
    {"properties": {"a": {"type": "integer"}, "b": {"items": {"type": "null"}}}, "required": ["a", "b"]}
)
UNIQUE = json.dumps({"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 2})


@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
@pytest.mark.parametrize(("schema", "value"), [(RECORD, {"a": 1, "b": [None, None]}), (UNIQUE, [2, 1])])
def test_json_with_separators_is_what_json_dumps_writes(
    language: Language, schema: str, value: object, separators: tuple[str, str]
) -> None:  # G13
    matcher = language.compile("json_schema", schema, separators=separators)
    written = json.dumps(value, separators=separators)
    assert language.accepts(matcher, written)
    others = {json.dumps(value, separators=other) for other in ((",", ":"), (", ", ": "), (" , ", " : "))} - {written}
    assert not any(language.accepts(matcher, text) for text in others)


def test_separators_leave_no_choice_between_a_value_and_the_next_key(language: Language) -> None:
    matcher = language.compile("json_schema", RECORD, separators=(",", ":"))
    tokens = language.tokenizer.encode('{"a":1,"b":[]}')
    choices = 0
    for token in tokens:
        choices += only_token(matcher.packed_mask()) is None
        matcher.accept([token])
    assert choices < len(tokens) / 2


@pytest.mark.parametrize("separators", [(";", ":"), (",", "="), ("", ":"), (",,", ":"), (",", ":" + 100 * " ")])
def test_separators_that_json_does_not_have_are_refused(language: Language, separators: tuple[str, str]) -> None:
    with pytest.raises(GrammarError, match="separators"):
        language.compile("json_schema", RECORD, separators=separators)
