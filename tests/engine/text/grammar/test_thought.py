"""Grammars that begin behind a thought."""

import pytest

from pie_mlx.engine.text.grammar import Matcher, xgrammar_library
from pie_mlx.errors import GrammarRejectedError

from .conftest import Language

SOURCES = {"llguidance": 'start: "a" "b"+', "xgrammar": 'root ::= "a" "b"+'}


@pytest.fixture(params=["llguidance", "xgrammar"])
def inner(request: pytest.FixtureRequest, language: Language) -> Matcher:
    reason = xgrammar_library.unavailable_because() if request.param == "xgrammar" else ""
    if reason:
        pytest.skip(reason)
    return language.compile("ebnf", SOURCES[request.param])


def behind(language: Language, inner: Matcher, closing: str = "</think>") -> Matcher:
    return language.grammars.thoughts.before(inner, closing)


def ids(language: Language, text: str) -> list[int]:
    """One token per character."""
    return [token for character in text for token in language.tokenizer.encode(character)]


def closed(language: Language) -> list[int]:
    token = language.tokenizer.id_of("</think>")
    assert token is not None
    return [token]


def test_a_thought_is_free_but_for_stops_and_padding(language: Language, inner: Matcher) -> None:  # G13
    matcher = behind(language, inner)
    free = set(language.tokenizer.bytes_by_id.tokens) - {language.stop, language.other_stop}
    assert language.allowed(matcher) == free
    matcher.accept(ids(language, "Well, b"))
    assert language.allowed(matcher) == free
    assert not matcher.is_complete
    with pytest.raises(GrammarRejectedError, match="after 7 tokens"):
        matcher.accept([language.stop])


@pytest.mark.parametrize("spelled", ["</think>", "/END", "D"])
def test_the_grammar_begins_where_the_closing_ends(language: Language, inner: Matcher, spelled: str) -> None:  # G13
    matcher = behind(language, inner, spelled)
    first = language.allowed(inner)
    matcher.accept(ids(language, "b ") + (closed(language) if spelled == "</think>" else ids(language, spelled)))
    assert language.allowed(matcher) == first
    assert not matcher.is_complete
    matcher.accept([*ids(language, "abb"), language.stop])
    assert matcher.is_terminated


def test_what_a_thought_and_a_text_hold_together_is_taken_up_to_the_first_forbidden_token(
    language: Language, inner: Matcher
) -> None:  # V7
    matcher = behind(language, inner)
    tokens = ids(language, "ab") + closed(language) + ids(language, "abc")
    assert matcher.try_accept(tokens) == 5
    assert matcher.is_complete


@pytest.mark.parametrize("count", range(1, 7))
def test_tokens_are_taken_back_over_the_closing(language: Language, inner: Matcher, count: int) -> None:  # V7
    matcher = behind(language, inner)
    tokens = [*ids(language, "ab"), *closed(language), *ids(language, "ab"), language.stop]
    matcher.accept(tokens)
    matcher.rollback(count)
    same = behind(language, inner)
    same.accept(tokens[:-count])
    assert language.allowed(matcher) == language.allowed(same)
    matcher.accept(tokens[-count:])
    assert matcher.is_terminated


def test_a_copy_thinks_by_itself(language: Language, inner: Matcher) -> None:
    matcher = behind(language, inner)
    matcher.accept(ids(language, "a"))
    twin = matcher.fork()
    twin.accept([*closed(language), *ids(language, "ab")])
    assert twin.is_complete
    assert not matcher.is_complete
    matcher.accept([*ids(language, "c"), *closed(language), *ids(language, "a")])
    assert not matcher.is_complete
    matcher.reset()
    matcher.accept(closed(language))
    assert language.allowed(matcher) == language.allowed(inner)
