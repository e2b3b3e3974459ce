"""Items that must differ do, whatever they are and however they are spelled, and no walk ends before its text does."""

import json
import random
from typing import Any

import pytest

from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.grammar.ahead import compute_masks
from pie_mlx.engine.text.grammar.json_schema.conditions.case import same
from tests.engine.text.grammar.conftest import Language

FLAG: dict[str, Any] = {"type": "boolean"}
OBJECT = {"type": "object", "properties": {"a": FLAG, "b": {"enum": [1, 2]}}, "required": ["a"]}
RUNNING_OUT: dict[str, Any] = {
    "named": {"items": {"enum": ["alpha", "al", "beta"]}},
    "flags": {"items": FLAG, "minItems": 1},
    "numbers": {"items": {"type": "integer", "minimum": 0, "maximum": 11}, "minItems": 5},
    "patterns": {"items": {"type": "string", "pattern": "^[a-c]{1,2}$"}, "minItems": 5},
    "letters": {"items": {"type": "string", "maxLength": 1}, "minItems": 4, "maxItems": 6},
    "objects": {"items": {**OBJECT, "additionalProperties": False}, "minItems": 3},
    "arrays": {"items": {"type": "array", "uniqueItems": True, "items": {"enum": ["x", "y"]}}, "minItems": 3},
    "kinds": {"items": {"anyOf": [{"enum": [1, 1.5, "a"]}, {"type": "null"}, FLAG]}, "minItems": 2},
}


def unique(language: Language, **schema: Any) -> Matcher:
    return language.compile("json_schema", json.dumps({"type": "array", "uniqueItems": True, **schema}))


@pytest.mark.parametrize(
    ("differing", "equal"),
    [
        ('["a","A","","aa"]', '["a","b","a"]'),
        ("[1,10,-1,0.1,1e2]", "[1, 1.0]"),
        ("[100,1000]", "[100,1e2]"),
        ("[0,1e999999999999999999999]", "[0,-0e999999999999999999999]"),
        ("[true,false,null,1,0]", "[null, true,null]"),
        ('[1,"1",[1],{"a":1}]', "[[1],[1.0]]"),
        ('[{"a":1},{"a":2},{"b":1},{}]', '[{"a":1,"b":2},{"b": 2, "a": 1.0}]'),
        ('[["a"],["a","a"],[]]', "[[],[ ]]"),
        ('["]","[",",","\\"","\\\\"]', '["\\"]","\\"]"]'),
        ('["é","e","🎉"]', '["🎉","🎉"]'),
    ],
)
def test_an_item_is_written_once(language: Language, differing: str, equal: str) -> None:  # G13
    matcher = unique(language)
    assert language.accepts(matcher, differing)
    assert not language.accepts(matcher, equal)


def test_items_differ_wherever_the_schema_asks_for_it_and_nowhere_else(language: Language) -> None:
    schema = {
        "$defs": {"tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True}},
        "properties": {"tags": {"$ref": "#/$defs/tags"}, "free": {"type": "array"}},
        "patternProperties": {"^x": {"anyOf": [{"$ref": "#/$defs/tags"}, {"type": "null"}]}},
        "additionalProperties": {"items": {"$ref": "#/$defs/tags"}},
    }
    matcher = language.compile("json_schema", json.dumps(schema))
    assert language.accepts(matcher, '{"tags":["a"],"free":[1,1],"x1":["a"],"y":[["a"],["a"]]}')
    for repeated in ('{"tags":["a","a"]}', '{"x":["a","a"]}', '{"y":[["b"],["a","a"]]}'):
        assert not language.accepts(matcher, repeated)


@pytest.mark.parametrize("name", RUNNING_OUT)
def test_every_way_through_the_masks_ends_with_items_that_differ(language: Language, name: str) -> None:  # G13
    first, ways = unique(language, **RUNNING_OUT[name]), random.Random(7)
    bytes_of = language.tokenizer.bytes_by_id.tokens
    for _ in range(12):
        matcher, text = first.fork(), b""
        while not matcher.is_terminated and len(text) < 300:
            allowed = sorted(language.allowed(matcher) - set(matcher.stop_tokens)) or [language.stop]
            signs = [8 if set(bytes_of[token]) & set(b',]}"') else 1 for token in allowed]
            token = language.stop if matcher.is_complete else ways.choices(allowed, signs)[0]
            matcher.accept([token])
            text += b"" if token == language.stop else bytes_of[token]
        items = json.loads(text)
        assert not any(same(one, other) for place, one in enumerate(items) for other in items[:place])


def test_the_mask_allows_what_is_taken(language: Language) -> None:  # G13
    matcher = unique(language, items={"enum": ["alpha", "al", "beta"]})
    for token in language.tokenizer.encode_plain('["al", "beta", "alpha"'):
        taken = {one for one in range(language.tokenizer.size) if matcher.fork().try_accept([one])}
        assert language.allowed(matcher) <= taken  # of a text that is forced, the engine allows the longest token
        matcher.accept([token])
    (comma,) = language.tokenizer.encode_plain(",")
    assert comma not in language.allowed(matcher), "all that may be written is there"


def test_taking_back_an_item_allows_it_again_and_a_fork_keeps_its_own(language: Language) -> None:
    matcher = unique(language, items={"type": "string"})
    tokens = language.tokenizer.encode_plain('["a","b"')
    matcher.accept(tokens)
    fork = matcher.fork()
    matcher.rollback(len(tokens) - 1)
    assert language.accepts(matcher, '"b","a"]')
    assert not language.accepts(fork, ',"a"]')
    assert language.accepts(fork, ',"c"]')


def test_masks_of_several_are_those_of_each(language: Language) -> None:
    several = [unique(language, items={"enum": ["a", "b"]}) for _ in range(5)]
    for count, matcher in enumerate(several):
        matcher.accept(language.tokenizer.encode_plain('["a","b"]')[:count])
    alone = [matcher.fork().packed_mask().tobytes() for matcher in several]
    compute_masks(several)
    assert [matcher.awaits for matcher in several] == [None] * 5
    assert [matcher.packed_mask().tobytes() for matcher in several] == alone
