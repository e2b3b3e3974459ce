"""Guesses at what a grammar makes follow."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.grammar.foresight import MOST_BYTES
from pie_mlx.engine.text.logit_mask import allowed_next

from .conftest import Language
from .masks import allowed_tokens

PERSON = json.dumps(
    {
        "type": "object",
        "properties": {
            "name": {"type": "string", "maxLength": 4},
            "age": {"type": "integer"},
            "kind": {"const": "a b"},
        },
        "required": ["name", "age", "kind"],
    }
)


def after(language: Language, matcher: Matcher, text: str) -> str:
    """What is guessed after a text that the grammar has begun with."""
    place, tokens = matcher.fork(), language.tokenizer.encode_plain(text)
    place.accept(tokens)
    return language.tokenizer.decode(language.grammars.foresight.tokens(place, tokens[-1], lambda: tokens))


@pytest.fixture(scope="module")
def person(language: Language) -> Matcher:
    return language.compile("json_schema", PERSON)


@pytest.mark.parametrize(
    ("text", "guess"),
    [
        ('{"na', 'me": "'),
        ('{"name":"Adam', '", "age":'),
        ('{ "name" :"Ad",', ' "age" :'),
        ('{"name":"Ad","age"', ":"),
        ('{\n  "name": "Ada",\n  "age": 3,', '\n  "kind": "a b"'),
    ],
)
def test_keys_and_marks_follow_in_the_blanks_of_the_text(
    language: Language, person: Matcher, text: str, guess: str
) -> None:
    assert after(language, person, text).startswith(guess)


@pytest.mark.parametrize("text", ['{"name": "', '{"name": "A', '{"name": "A", "age": 1'])
def test_nothing_is_guessed_of_text_that_is_open(language: Language, person: Matcher, text: str) -> None:
    assert after(language, person, text) == ""


@pytest.mark.parametrize(
    ("text", "near"), [('{"name":"Ad","age"', False), ('{"name":"Adam', True), ('{"name": "A', False)]
)
def test_a_guess_is_near_where_it_is_long(language: Language, person: Matcher, text: str, near: bool) -> None:
    place = person.fork()
    place.accept(language.tokenizer.encode_plain(text))
    assert language.grammars.foresight.is_near(place) is near


def test_nothing_is_guessed_beyond_the_end(language: Language) -> None:
    matcher = language.compile("regex", "yes or no, it ends")
    assert after(language, matcher, "yes or") == " no, it ends"
    assert after(language, matcher, "yes or no, it ends") == ""


def test_a_guess_is_not_endless(language: Language) -> None:
    matcher = language.compile("regex", "ab" * 5000)
    assert len(after(language, matcher, "abab")) == MOST_BYTES


def test_the_matcher_stays_where_it_was(language: Language, person: Matcher) -> None:
    before, taken = person.packed_mask().copy(), person.taken
    after(language, person, '{"name')
    assert ((person.packed_mask() == before).all(), person.taken) == (True, taken)


@given(st.data())
def test_every_guess_is_a_text_that_the_grammar_allows(
    language: Language, person: Matcher, data: st.DataObject
) -> None:
    place, tokens = person.fork(), list[int]()
    for _ in range(data.draw(st.integers(1, 30))):
        if place.is_terminated:
            return
        token = data.draw(st.sampled_from(sorted(allowed_tokens(place, place.vocabulary_size))))
        if not place.try_accept([token]):
            return
        tokens.append(token)
    if place.is_terminated or allowed_next([place], None) is None:
        return
    guess = language.grammars.foresight.tokens(place, tokens[-1], lambda: tokens)
    assert place.fork().try_accept(guess) == len(guess)
