"""Masks computed for many matchers at once, before anybody asks."""

import asyncio

import pytest

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.grammar.ahead import MasksAhead, compute_masks
from pie_mlx.errors import GrammarError

from .conftest import Language

SOURCES = {"lark": 'start: "a" ("b"|"c")* "d"?', "gbnf": 'root ::= "a" ("b"|"c")* "d"?'}


@pytest.fixture(params=["lark", "gbnf"])
def notation(request: pytest.FixtureRequest) -> str:
    return request.param


def walked(language: Language, grammar: str, *texts: str) -> list[Matcher]:
    """A matcher of one grammar after each text."""
    matchers = [language.compile("ebnf", grammar) for _ in texts]
    for matcher, text in zip(matchers, texts, strict=True):
        matcher.accept(language.tokenizer.encode(text))
    return matchers


TEXTS = ("", "a", "ab", "abc", "acb", "abbb", "abd")


@pytest.mark.parametrize("threads", [1, 2])
def test_masks_of_many_are_those_of_each(
    language: Language, notation: str, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pie_mlx.engine.text.grammar.llguidance_engine.THREADS", threads)
    matchers = walked(language, SOURCES[notation], *TEXTS)
    alone = [language.allowed(matcher.fork()) for matcher in matchers]
    compute_masks(matchers)
    assert all(matcher.awaits is None for matcher in matchers)
    assert [language.allowed(matcher) for matcher in matchers] == alone


def test_the_mask_of_one_is_computed_without_gathering(
    language: Language, notation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (matcher,) = walked(language, SOURCES[notation], "ab")
    allowed = language.allowed(matcher.fork())
    monkeypatch.setattr(type(matcher.awaits), "masks", None)
    compute_masks([matcher])
    assert matcher.awaits is None
    assert language.allowed(matcher) == allowed


def test_masks_of_different_engines_are_computed_together(language: Language, notation: str) -> None:
    matchers = [*walked(language, SOURCES[notation], *TEXTS), *walked(language, SOURCES["lark"], *TEXTS)]
    alone = [language.allowed(matcher.fork()) for matcher in matchers]
    compute_masks(matchers)
    assert [language.allowed(matcher) for matcher in matchers] == alone


def test_a_matcher_at_its_end_awaits_nothing(language: Language, notation: str) -> None:  # G13
    (matcher,) = walked(language, SOURCES[notation], "ab")
    matcher.accept([language.stop])
    compute_masks([matcher])
    assert language.allowed(matcher) == {language.stop, language.other_stop}


def test_a_mask_that_is_known_goes_with_the_next_token(language: Language, notation: str) -> None:
    matcher, after = walked(language, SOURCES[notation], "a", "ab")
    compute_masks([matcher])
    matcher.accept(language.tokenizer.encode("b"))
    assert language.allowed(matcher) == language.allowed(after)


def test_the_first_mask_is_known_from_compiling(language: Language, notation: str) -> None:
    (matcher,) = walked(language, SOURCES[notation], "")
    assert matcher.awaits is None
    assert language.allowed(matcher) == set(language.tokenizer.encode("a"))


def test_a_mask_that_is_known_goes_with_a_fork(language: Language, notation: str) -> None:
    (matcher,) = walked(language, SOURCES[notation], "a")
    compute_masks([matcher])
    assert matcher.fork().awaits is None


def test_a_place_where_nothing_fits_spares_the_others(language: Language) -> None:
    stop = language.tokenizer.encode("b")
    assert len(stop) == 1
    stuck = language.grammars.compile(GrammarSource("ebnf", 'start: "a" "b" "c"'), stop)
    assert stuck is not None
    stuck.accept(language.tokenizer.encode("a"))
    (other,) = walked(language, 'start: "a" "b"', "a")
    compute_masks([stuck, other])
    assert other.awaits is None
    with pytest.raises(GrammarError, match="no text"):
        stuck.packed_mask()


async def test_masks_are_there_once_the_loop_has_turned(language: Language, notation: str) -> None:
    matchers = walked(language, SOURCES[notation], *TEXTS)
    MasksAhead().moved(matchers)
    assert matchers[1].awaits is not None
    for _ in range(3):
        await asyncio.sleep(0)
    assert all(matcher.awaits is None for matcher in matchers)
