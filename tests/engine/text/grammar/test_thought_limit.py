"""Thoughts that may take so many tokens and no more."""

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.calls import GrammarSource, ThoughtLimit
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.grammar.thought_limit import Limit, LimitedWalk
from pie_mlx.errors import GrammarError

from .conftest import Language
from .masks import allowed_tokens

SIZE = 32
LETTERS = "ab<>/"
VOCABULARY = {number: letter.encode() for number, letter in enumerate(LETTERS)} | {
    5: b"</a>",
    6: b"</",
    7: b"a>b",
    8: b"<a>",
    9: b"b</",
    10: b"",
}


def limited(
    tokens: int,
    opening: str = "<a>",
    closing: str = "</a>",
    again: str = "",
    *,
    is_open: bool = False,
    marks: Collection[int] = (),
) -> Matcher:
    limit = ThoughtLimit(tokens, opening, closing, again, is_open)
    return Matcher(LimitedWalk(Limit(limit, VOCABULARY, SIZE, marks)), (), SIZE)


def allowed(matcher: Matcher) -> set[int]:
    return set(allowed_tokens(matcher, SIZE))


def written(*parts: str) -> list[int]:
    """Each part is one token."""
    ids = {text.decode(): token for token, text in VOCABULARY.items()}
    return [ids[part] for part in parts]


def test_a_text_without_a_thought_is_free() -> None:
    matcher = limited(0)
    matcher.accept(written("a", "b", "<", "b", "</a>", "</"))
    assert allowed(matcher) == set(VOCABULARY)
    assert matcher.is_complete


@pytest.mark.parametrize("is_open", [True, False])
def test_at_the_limit_only_the_end_of_the_thought_can_be_written(is_open: bool) -> None:
    matcher = limited(2, is_open=is_open)
    matcher.accept([] if is_open else written("b", "<a>"))
    matcher.accept(written("a", "b"))
    assert allowed(matcher) == {*written("</a>")}
    assert not matcher.is_complete
    matcher.accept(written("</a>"))
    assert allowed(matcher) == set(VOCABULARY)


def test_an_end_of_several_tokens_is_written_in_the_longest_ones() -> None:
    matcher = limited(1, closing="</b>", is_open=True)
    for token in written("a", "</", "b", ">"):
        assert token in allowed(matcher)
        matcher.accept([token])
        assert len(allowed(matcher)) == 1 or matcher.is_complete


def test_what_was_begun_of_the_end_is_finished() -> None:
    matcher = limited(2, closing="</b>", is_open=True)
    matcher.accept(written("a", "b</"))
    assert allowed(matcher) == {*written("b")}


def test_an_end_that_is_one_token_is_written_as_that() -> None:
    matcher = limited(2, is_open=True)
    matcher.accept(written("a", "b</"))
    assert allowed(matcher) == {*written("</a>")}


def test_a_thought_that_ends_in_time_is_followed_by_anything() -> None:
    matcher = limited(5, is_open=True)
    matcher.accept(written("a", "</", "a>b", "b", "b", "b", "b", "b", "b"))
    assert allowed(matcher) == set(VOCABULARY)


def test_all_thoughts_have_one_limit_together() -> None:
    matcher = limited(3)
    matcher.accept(written("<a>", "b", "</a>", "b", "<a>"))
    assert allowed(matcher) == set(VOCABULARY)
    matcher.accept(written("b"))
    assert allowed(matcher) == {*written("</a>")}


def test_a_thought_that_opens_again_ends_in_the_answer() -> None:
    matcher = limited(1, again="</a>ab")
    matcher.accept(written("<a>", "b", "</a>", "<a>"))
    for token in written("</a>", "a", "b"):
        assert allowed(matcher) == {token}
        matcher.accept([token])
    assert allowed(matcher) == set(VOCABULARY)


@given(
    limit=st.integers(0, 4),
    is_open=st.booleans(),
    choices=st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 3)), max_size=25),
)
def test_masks_moves_and_rollbacks_agree(limit: int, is_open: bool, choices: list[tuple[int, int]]) -> None:  # V7
    matcher, tokens = limited(limit, is_open=is_open), list[int]()
    for choice, back in choices:
        open_now = sorted(allowed(matcher))
        assert open_now
        assert [token for token in VOCABULARY if matcher.fork().try_accept([token])] == open_now
        matcher.accept([open_now[choice % len(open_now)]])
        tokens.append(open_now[choice % len(open_now)])
        back = min(back if choice % 3 == 0 else 0, len(tokens))
        matcher.rollback(back)
        del tokens[len(tokens) - back :]
        again = limited(limit, is_open=is_open)
        again.accept(tokens)
        assert allowed(again) == allowed(matcher)


@given(limit=st.integers(0, 4), choices=st.lists(st.integers(0, 1 << 16), min_size=40, max_size=40))
def test_a_thought_never_takes_more_than_its_limit_and_its_end(limit: int, choices: list[int]) -> None:
    matcher, text, spent = limited(limit, is_open=True), "", 0
    for choice in choices:
        open_now = sorted(allowed(matcher))
        token = open_now[choice % len(open_now)]
        matcher.accept([token])
        text, spent = text + VOCABULARY[token].decode(), spent + 1
        if "</a>" in text:
            break
    assert spent <= limit + len("</a>")


@given(
    limit=st.integers(0, 4),
    marks=st.sampled_from([(), (8,)]),
    choices=st.lists(st.integers(0, 1 << 16), min_size=20, max_size=20),
)
def test_while_it_says_that_all_is_free_nothing_is_forbidden(
    limit: int, marks: tuple[int, ...], choices: list[int]
) -> None:
    matcher, free = limited(limit, marks=marks), 0
    ends: Collection[int] = ()
    for choice in choices:
        free, ends = max((free, ends), matcher.freedom, key=lambda found: found[0])
        assert not free or allowed(matcher) == set(VOCABULARY)
        token = sorted(allowed(matcher))[choice % len(allowed(matcher))]
        matcher.accept([token])
        free = 0 if token in ends else max(0, free - 1)


def test_outside_a_thought_all_is_free_up_to_the_token_that_opens_one() -> None:
    (mark,) = written("<a>")
    matcher = limited(0, marks=[mark])
    matcher.accept([mark])
    assert matcher.freedom.tokens == 0
    matcher.accept(written("</a>"))
    assert matcher.freedom.tokens > 1000
    assert matcher.freedom.ends == {mark}


def test_a_grammar_service_makes_them(language: Language) -> None:
    limit = ThoughtLimit(1, "<think>", "</think>", is_open=True)
    matcher = language.grammars.compile(GrammarSource("thought", limit=limit))
    assert matcher is not None
    matcher.accept(language.tokenizer.encode("a"))
    closing = language.tokenizer.id_of("</think>")
    assert closing is not None
    assert closing in language.allowed(matcher)
    assert language.stop not in language.allowed(matcher)
    matcher.accept([closing])
    assert language.stop in language.allowed(matcher)
    matcher.accept([language.stop])
    assert not matcher.is_terminated


@pytest.mark.parametrize("delimiters", [("", "</a>"), ("<a>", ""), ("<a>", "é"), ("<a>", "a" * 2000)])
def test_delimiters_that_cannot_be_written_are_refused(delimiters: tuple[str, str]) -> None:
    with pytest.raises(GrammarError, match="thought"):
        limited(1, *delimiters)


def test_a_limit_is_part_of_its_source(language: Language) -> None:
    with pytest.raises(GrammarError, match="no limit"):
        language.grammars.compile(GrammarSource("thought"))
