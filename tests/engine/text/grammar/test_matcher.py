"""One contract for the matchers of grammars in either notation."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.errors import GrammarRejectedError, InvalidArgumentError

from .conftest import PADDED_SIZE, Language

SOURCES = {"lark": ("ebnf", 'start: "a" "b"+'), "gbnf": ("ebnf", 'root ::= "a" "b"+')}
ENDING = {"lark": ("ebnf", 'start: "ab"'), "gbnf": ("ebnf", 'root ::= "ab"')}
CHOICE = {"lark": ("ebnf", 'start: "a" ("b"|"c") "b"?'), "gbnf": ("ebnf", 'root ::= "a" ("b"|"c") "b"?')}
CHARACTER = {"lark": ("ebnf", 'start: "é"'), "gbnf": ("ebnf", 'root ::= "é"')}


@pytest.fixture(params=["lark", "gbnf"])
def notation(request: pytest.FixtureRequest) -> str:
    return request.param


def ids(language: Language, text: str) -> list[int]:
    """One token per character."""
    return [token for character in text for token in language.tokenizer.encode(character)]


def test_a_mask_allows_what_may_follow(language: Language, notation: str) -> None:
    matcher = language.compile(*SOURCES[notation])
    assert ids(language, "a")[0] in language.allowed(matcher)
    assert language.stop not in language.allowed(matcher)
    matcher.accept(ids(language, "ab"))
    assert {ids(language, "b")[0], language.stop, language.other_stop} <= language.allowed(matcher)


def test_a_mask_that_was_given_out_stays_as_it_is(language: Language, notation: str) -> None:
    matcher = language.compile(*CHOICE[notation])
    given = []
    for token in ids(language, "acb"):
        mask = matcher.packed_mask()
        given.append((mask, mask.tobytes()))
        matcher.accept([token])
    assert all(mask.tobytes() == before for mask, before in given)


def test_padding_is_never_allowed(language: Language, notation: str) -> None:
    allowed = language.allowed(language.compile(*SOURCES[notation]))
    assert max(allowed) < language.tokenizer.size < PADDED_SIZE


def test_a_forbidden_token_changes_nothing(language: Language, notation: str) -> None:  # E3
    matcher = language.compile(*SOURCES[notation])
    before = language.allowed(matcher)
    with pytest.raises(GrammarRejectedError, match="after 2 tokens"):
        matcher.accept([*ids(language, "ab"), language.tokenizer.encode("c")[0]])
    assert language.allowed(matcher) == before
    matcher.accept(ids(language, "ab"))
    assert matcher.is_complete


def test_tokens_are_taken_up_to_the_first_forbidden_one(language: Language, notation: str) -> None:
    matcher = language.compile(*SOURCES[notation])
    assert matcher.try_accept(ids(language, "abcb")) == 2


def test_stop_tokens_are_allowed_only_where_the_grammar_may_end(language: Language, notation: str) -> None:  # G13
    matcher = language.compile(*SOURCES[notation])
    with pytest.raises(GrammarRejectedError):
        matcher.accept([language.stop])
    matcher.accept([*ids(language, "ab"), language.other_stop])
    assert matcher.is_terminated
    with pytest.raises(GrammarRejectedError):
        matcher.accept([language.stop])


def test_a_stop_token_that_is_text_ends_the_grammar_and_is_nothing_else(language: Language, notation: str) -> None:
    (stop,) = language.tokenizer.encode("b")  # G13
    matcher = language.grammars.compile(GrammarSource(*CHOICE[notation]), [stop])
    assert matcher is not None
    matcher.accept(ids(language, "a"))
    assert stop not in language.allowed(matcher)
    matcher.accept(ids(language, "c"))
    matcher.accept([stop])
    assert matcher.is_terminated


def test_a_grammar_after_which_nothing_may_follow_terminates_without_a_stop(language: Language, notation: str) -> None:
    matcher = language.compile(*ENDING[notation])  # G13
    matcher.accept(ids(language, "a"))
    assert not matcher.is_terminated
    matcher.accept(ids(language, "b"))
    assert matcher.is_complete
    assert matcher.is_terminated
    assert language.allowed(matcher) == {language.stop, language.other_stop}


def test_a_complete_grammar_that_may_go_on_is_not_terminated(language: Language, notation: str) -> None:  # G13
    matcher = language.compile(*SOURCES[notation])
    matcher.accept(ids(language, "ab"))
    assert matcher.is_complete
    assert not matcher.is_terminated


@pytest.mark.parametrize("grammar", [SOURCES, ENDING])
def test_rollback_over_the_end_restores_it(language: Language, notation: str, grammar: dict) -> None:
    matcher = language.compile(*grammar[notation])
    matcher.accept(ids(language, "a"))
    before = language.allowed(matcher)
    matcher.accept([*ids(language, "b"), language.stop])
    assert matcher.is_terminated
    matcher.rollback(2)
    assert not matcher.is_terminated
    assert language.allowed(matcher) == before


def test_rollback_beyond_the_start_is_refused(language: Language, notation: str) -> None:
    matcher = language.compile(*SOURCES[notation])
    matcher.accept(ids(language, "ab"))
    for count in (3, -1):
        with pytest.raises(InvalidArgumentError, match="rollback"):
            matcher.rollback(count)
    assert matcher.is_complete


def test_a_fork_is_independent(language: Language, notation: str) -> None:
    matcher = language.compile(*SOURCES[notation])
    matcher.accept(ids(language, "a"))
    fork = matcher.fork()
    fork.accept([*ids(language, "b"), language.stop])
    assert not matcher.is_complete
    matcher.reset()
    assert fork.is_terminated
    assert matcher.taken == 0


def test_a_matcher_goes_where_its_fork_went(language: Language, notation: str) -> None:
    matcher = language.compile(*SOURCES[notation])
    matcher.accept(ids(language, "a"))
    fork = matcher.fork()
    fork.accept([*ids(language, "b"), language.stop])
    assert matcher.follow(fork, 2)
    assert matcher.is_terminated
    matcher.rollback(2)
    assert language.allowed(matcher) == set(ids(language, "b"))


def test_a_matcher_that_moved_follows_no_fork(language: Language, notation: str) -> None:
    matcher = language.compile(*SOURCES[notation])
    fork = matcher.fork()
    fork.accept(ids(language, "a"))
    matcher.accept(ids(language, "a"))
    matcher.reset()
    assert not matcher.follow(fork, 1)
    assert matcher.taken == 0


def test_a_fork_that_took_something_else_is_not_followed(language: Language, notation: str) -> None:
    matcher = language.compile(*SOURCES[notation])
    fork = matcher.fork()
    fork.accept(ids(language, "a"))
    assert not matcher.follow(fork, 2)
    assert matcher.taken == 0


def test_a_character_is_complete_with_its_last_byte(language: Language, notation: str) -> None:
    matcher = language.compile(*CHARACTER[notation])
    first, second = language.tokenizer.encode("ééé"), language.tokenizer.encode("é")
    assert len({*first, *second}) >= 1
    lead = next(token for token, text in language.tokenizer.bytes_by_id.tokens.items() if text == "é".encode()[:1])
    tail = next(token for token, text in language.tokenizer.bytes_by_id.tokens.items() if text == "é".encode()[1:])
    matcher.accept([lead])
    assert not matcher.is_complete
    matcher.accept([tail])
    assert matcher.is_complete


def test_a_custom_stop_set_takes_the_place_of_the_models(language: Language, notation: str) -> None:  # G2
    from pie_mlx.calls import GrammarSource

    other = language.tokenizer.id_of("<s>") or 0
    matcher = language.grammars.compile(GrammarSource(*SOURCES[notation]), [other])
    assert matcher is not None
    matcher.accept(ids(language, "ab"))
    assert other in language.allowed(matcher)
    assert language.stop not in language.allowed(matcher)


def test_markup_is_never_allowed_as_text(language: Language, notation: str) -> None:
    grammar = {"lark": "start: /[^x]+/", "gbnf": "root ::= [^x]+"}[notation]
    allowed = language.allowed(language.compile("ebnf", grammar))
    assert not allowed & language.tokenizer.markup_ids


def test_a_forced_markup_text_is_spelled_in_ordinary_tokens(language: Language, notation: str) -> None:
    grammar = {"lark": 'start: "<think>"', "gbnf": 'root ::= "<think>"'}[notation]
    matcher = language.compile("ebnf", grammar)
    assert language.tokenizer.id_of("<think>") not in language.allowed(matcher)
    spelled = [token for character in "<think>" for token in language.tokenizer.encode(character)]
    matcher.accept(spelled)
    assert matcher.is_terminated


MOVES = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(0, 5)),
        st.tuples(st.just("back"), st.integers(0, 3)),
        st.tuples(st.just("fork"), st.just(0)),
        st.tuples(st.just("follow"), st.integers(0, 5)),
        st.tuples(st.just("reset"), st.just(0)),
    ),
    max_size=12,
)


@given(moves=MOVES)
@pytest.mark.parametrize("notation", ["lark", "gbnf"])
def test_any_walk_equals_one_made_from_its_tokens(language: Language, notation: str, moves: list) -> None:
    source = {
        "lark": 'start: item ("," item)*\nitem: /[0-9]+/ | "(" start ")"',
        "gbnf": 'root ::= item ("," item)*\nitem ::= [0-9]+ | "(" root ")"',
    }[notation]
    fresh = language.compile("ebnf", source)
    matcher, taken = fresh, list[int]()
    alphabet = [*ids(language, "1,()"), language.stop, ids(language, "x")[0]]
    for move, number in moves:
        matcher, taken = _moved(matcher, taken, move, number, alphabet)
    rebuilt = language.compile("ebnf", source)
    rebuilt.accept(taken)
    assert language.allowed(matcher) == language.allowed(rebuilt)
    assert (matcher.is_complete, matcher.is_terminated) == (rebuilt.is_complete, rebuilt.is_terminated)


def _moved(
    matcher: Matcher, taken: list[int], move: str, number: int, alphabet: list[int]
) -> tuple[Matcher, list[int]]:
    if move == "take":
        count = matcher.try_accept([alphabet[number]])
        return matcher, taken + [alphabet[number]] * count
    if move == "back":
        count = min(number, len(taken))
        matcher.rollback(count)
        return matcher, taken[: len(taken) - count]
    if move == "fork":
        return matcher.fork(), taken
    if move == "follow":
        fork = matcher.fork()
        count = fork.try_accept([alphabet[number]])
        assert matcher.follow(fork, count)
        return matcher, taken + [alphabet[number]] * count
    matcher.reset()
    return matcher, []


@pytest.mark.parametrize("notation", ["lark", "gbnf"])
def test_a_bit_of_the_mask_is_set_exactly_when_its_token_is_accepted(language: Language, notation: str) -> None:
    source = {"lark": 'start: /[a-z ]+/ "1" | "x"*', "gbnf": 'root ::= [a-z ]+ "1" | "x"*'}[notation]
    matcher = language.compile("ebnf", source)
    for token in language.tokenizer.encode("the quick 1"):
        allowed = language.allowed(matcher)
        for candidate in range(language.tokenizer.size):
            assert (candidate in allowed) == (matcher.fork().try_accept([candidate]) == 1)
        matcher.accept([token])
