"""Walking a grammar by hand."""

import pytest

from inferlet import Grammar, JsonSchema, Matcher, Model, brle
from inferlet._calls.compiled_grammars import KEPT_GRAMMARS
from pie_mlx import calls
from pie_mlx.errors import GrammarError, GrammarRejectedError, InvalidTypeError
from tests.inferlet.toy_host import ToyHost
from tests.inferlet.toy_language import END, EOS, encode


@pytest.fixture
def matcher(model: Model) -> Matcher:
    return Matcher(Grammar.from_regex("yes|yo"), model.tokenizer())


def test_a_matcher_advances_token_by_token(matcher: Matcher) -> None:
    assert matcher.next_token_logit_mask()[:2] == [encode("y")[0], 1]
    matcher.accept_tokens(encode("yo"))
    assert (matcher.is_complete, matcher.is_terminated) == (True, True)
    assert brle.brle_and(matcher.next_token_logit_mask(), [0, EOS + 1]) == brle.allow_only([END, EOS])


def test_a_rejected_token_changes_nothing(matcher: Matcher) -> None:  # E3
    with pytest.raises(GrammarRejectedError):
        matcher.accept_tokens(encode("yx"))
    matcher.accept_tokens(encode("y"))


def test_tokens_are_taken_back(matcher: Matcher) -> None:
    matcher.accept_tokens(encode("yes"))
    matcher.rollback(2)
    matcher.accept_tokens(encode("o"))
    matcher.reset()
    assert not matcher.is_complete
    matcher.accept_tokens(encode("yes"))


def test_a_fork_walks_on_its_own(matcher: Matcher) -> None:
    matcher.accept_tokens(encode("y"))
    fork = matcher.fork()
    fork.accept_tokens(encode("o"))
    matcher.accept_tokens(encode("es"))
    assert fork.is_terminated


def test_the_last_reference_releases(host: ToyHost, model: Model) -> None:
    matcher = Matcher(Grammar.json(), model.tokenizer())
    assert len(host.walking) == 1
    del matcher
    assert host.walking == {}


def test_matchers_of_one_grammar_are_copies_of_the_first(host: ToyHost, model: Model) -> None:
    first, second = (Matcher(Grammar.json(), model.tokenizer()) for _ in range(2))
    first.accept_tokens(encode("t"))
    assert len(host.sent(calls.CompileGrammar)) == 1
    assert [matcher.fed for matcher in host.walking.values()] == [encode("t"), []]
    assert first.id != second.id


def test_grammars_not_used_for_long_are_forgotten(host: ToyHost, model: Model) -> None:
    for number in range(KEPT_GRAMMARS + 1):
        Matcher(Grammar.from_regex(f"yes|{number}"), model.tokenizer())
    assert len(host.matchers) == KEPT_GRAMMARS


def test_stop_tokens_are_given_along(host: ToyHost, model: Model) -> None:
    Matcher(Grammar.json(), model.tokenizer(), stop_tokens=[9, EOS, 9])
    assert host.sent(calls.CompileGrammar)[0].stop_tokens == [EOS, 9]


def test_a_model_without_tool_format_has_no_matcher(model: Model) -> None:  # D7
    with pytest.raises(GrammarError):
        Matcher(Grammar(calls.GrammarSource("tools", schemas=["{}"])), model.tokenizer())


@pytest.mark.parametrize(
    ("grammar", "source"),
    [
        (Grammar.json(), calls.GrammarSource("json")),
        (Grammar.from_regex("a"), calls.GrammarSource("regex", "a")),
        (Grammar.from_ebnf("a"), calls.GrammarSource("ebnf", "a")),
        (Grammar.from_json_schema({"type": "null"}), calls.GrammarSource("json_schema", '{"type":"null"}')),
        (Grammar.from_json_schema("{}", strict=False), calls.GrammarSource("json_schema", "{}", strict=False)),
        (
            JsonSchema("{}", every_spelling=True).grammar(),
            calls.GrammarSource("json_schema", "{}", every_spelling=True),
        ),
    ],
)
def test_grammars_are_only_text(grammar: Grammar, source: calls.GrammarSource) -> None:
    assert grammar.source == source


def test_a_schema_is_json(model: Model) -> None:
    with pytest.raises(GrammarError):
        Grammar.from_json_schema("no json")
    with pytest.raises(InvalidTypeError):
        Grammar.from_json_schema(3)  # pyright: ignore[reportArgumentType]
