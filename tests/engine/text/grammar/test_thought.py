"""Grammars that begin after a thought."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.grammar.base import Walk
from pie_mlx.engine.text.grammar.masks import PackedMask, pack_tokens
from pie_mlx.engine.text.grammar.thought import Thoughts
from pie_mlx.errors import GrammarError, GrammarRejectedError

from .conftest import Language

SOURCES = {"lark": 'start: "a" "b"+', "gbnf": 'root ::= "a" "b"+'}


@pytest.fixture(params=["lark", "gbnf"])
def inner(request: pytest.FixtureRequest, language: Language) -> Matcher:
    return language.compile("ebnf", SOURCES[request.param])


def after(language: Language, inner: Matcher, closing: str = "</think>") -> Matcher:
    return language.grammars.thoughts.before(inner, closing)


def ids(language: Language, text: str) -> list[int]:
    """One token per character."""
    return [token for character in text for token in language.tokenizer.encode(character)]


def closed(language: Language) -> list[int]:
    token = language.tokenizer.id_of("</think>")
    assert token is not None
    return [token]


def test_a_thought_is_free_but_for_stops_and_padding(language: Language, inner: Matcher) -> None:  # G13
    matcher = after(language, inner)
    free = set(language.tokenizer.bytes_by_id.tokens) - {language.stop, language.other_stop}
    assert language.allowed(matcher) == free
    matcher.accept(ids(language, "Well, b"))
    assert language.allowed(matcher) == free
    assert not matcher.is_complete
    with pytest.raises(GrammarRejectedError, match="after 7 tokens"):
        matcher.accept([language.stop])


@pytest.mark.parametrize("spelled", ["</think>", "/END", "D"])
def test_the_grammar_begins_where_the_closing_ends(language: Language, inner: Matcher, spelled: str) -> None:  # G13
    matcher = after(language, inner, spelled)
    first = language.allowed(inner)
    matcher.accept(ids(language, "b ") + (closed(language) if spelled == "</think>" else ids(language, spelled)))
    assert language.allowed(matcher) == first
    assert not matcher.is_complete
    matcher.accept([*ids(language, "abb"), language.stop])
    assert matcher.is_terminated


def test_what_a_thought_and_a_text_hold_together_is_taken_up_to_the_first_forbidden_token(
    language: Language, inner: Matcher
) -> None:  # V7
    matcher = after(language, inner)
    tokens = ids(language, "ab") + closed(language) + ids(language, "abc")
    assert matcher.try_accept(tokens) == 5
    assert matcher.is_complete


@pytest.mark.parametrize("count", range(1, 7))
def test_tokens_are_taken_back_over_the_closing(language: Language, inner: Matcher, count: int) -> None:  # V7
    matcher = after(language, inner)
    tokens = [*ids(language, "ab"), *closed(language), *ids(language, "ab"), language.stop]
    matcher.accept(tokens)
    matcher.rollback(count)
    same = after(language, inner)
    same.accept(tokens[:-count])
    assert language.allowed(matcher) == language.allowed(same)
    matcher.accept(tokens[-count:])
    assert matcher.is_terminated


def test_a_copy_thinks_by_itself(language: Language, inner: Matcher) -> None:
    matcher = after(language, inner)
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


def test_a_closing_that_the_model_cannot_write_is_refused(inner: Matcher) -> None:
    vocabulary = {0: b"<", 1: b"/a>", 2: b""}
    with pytest.raises(GrammarError, match="no tokens for '</a>'"):
        Thoughts(vocabulary, 3).before(inner, "</a>")
    assert Thoughts(vocabulary, 3).before(inner, "/a>").try_accept([0, 1]) == 2


MARK, SIZE = 0, 64
LETTERS = b"<a>"
VOCABULARIES = st.lists(st.text("<a>", max_size=6), max_size=12).map(
    lambda texts: {
        MARK: b"<a>",
        **dict(enumerate([*(bytes([one]) for one in LETTERS), *(t.encode() for t in texts)], 1)),
    }
)
MARKED = "|"
"""Stands for the mark, whose text is `<a>`, in what the tests compare."""
CLOSINGS = st.text("<a>|", min_size=1, max_size=4) | st.text("<a>", max_size=2).map(lambda text: text + MARKED)


class As(Walk):
    """A grammar of the letter a alone."""

    def __init__(self, vocabulary: dict[int, bytes], taken: int = 0) -> None:
        self._vocabulary, self.taken = vocabulary, taken
        self._allowed = [token for token, text in vocabulary.items() if not text.strip(b"a")]

    def mask(self) -> PackedMask:
        return pack_tokens(self._allowed, SIZE)

    def push(self, tokens: Sequence[int]) -> int:
        taken = next((place for place, token in enumerate(tokens) if token not in self._allowed), len(tokens))
        self.taken += taken
        return taken

    def pop(self, count: int) -> None:
        self.taken -= count
        assert self.taken >= 0

    def fork(self) -> Walk:
        return As(self._vocabulary, self.taken)

    @property
    def is_complete(self) -> bool:
        return True

    @property
    def is_exhausted(self) -> bool:
        return False


def is_allowed(texts: Sequence[str], closing: str, *, has_marks: bool) -> bool:
    """Whether tokens of these texts may be written: up to the closing, with which one ends, and then the letter a. What
    has no text stands in no thought."""
    whole = "".join(texts)
    for place in range(1, len(texts) + 1):
        written = "".join(texts[:place])
        finishes = has_marks and len(closing) > 1 and closing.endswith(MARKED)
        if finishes and "".join(texts[: place - 1]).endswith(closing[:-1]) and texts[place - 1] != MARKED:
            return False
        if not texts[place - 1]:
            return False
        if closing in written:
            return written.find(closing) + len(closing) == len(written) and not whole[len(written) :].strip("a")
    return True


@given(VOCABULARIES, CLOSINGS, st.booleans(), st.lists(st.integers(0, 1 << 16), max_size=12))
def test_masks_and_moves_are_those_of_the_texts(
    vocabulary: dict[int, bytes], closing: str, has_marks: bool, choices: list[int]
) -> None:  # G13, V7
    closing = closing if has_marks else closing.replace(MARKED, "") or ">"
    texts = {token: text.decode() for token, text in vocabulary.items()} | ({MARK: MARKED} if has_marks else {})
    if has_marks and "<a>" in closing:  # the text of the mark is the mark
        closing = closing.replace("<a>", MARKED)
    thoughts = Thoughts(vocabulary, SIZE, [MARK] if has_marks else [])
    matcher = thoughts.before(Matcher(As(vocabulary), (SIZE - 1,), SIZE), closing.replace(MARKED, "<a>"))
    written: list[int] = []
    for choice in choices:
        allowed = [
            t for t in vocabulary if is_allowed([*map(texts.get, written), texts[t]], closing, has_marks=has_marks)
        ]
        mask = matcher.packed_mask()
        assert mask is not None
        assert [t for t in vocabulary if mask[t >> 5] >> (t & 31) & 1] == allowed
        assert [t for t in vocabulary if matcher.fork().try_accept([t])] == allowed
        if choice % 5 == 0:
            matcher.rollback(count := choice % (len(written) + 1))
            del written[len(written) - count :]
        elif allowed:
            matcher = matcher.fork() if choice % 2 else matcher
            matcher.accept([allowed[choice % len(allowed)]])
            written.append(allowed[choice % len(allowed)])


@given(VOCABULARIES, CLOSINGS, st.lists(st.integers(0, 1 << 16), max_size=8))
def test_a_closing_can_be_written_wherever_a_thought_stands(
    vocabulary: dict[int, bytes], closing: str, choices: list[int]
) -> None:  # G13
    spelled = closing.replace(MARKED, "<a>")
    matcher = Thoughts(vocabulary, SIZE, [MARK]).before(Matcher(As(vocabulary), (SIZE - 1,), SIZE), spelled)
    for choice in choices:
        allowed = [token for token in vocabulary if matcher.fork().try_accept([token])]
        if matcher.is_complete or not allowed:
            break
        matcher.accept([allowed[choice % len(allowed)]])
    ones = {MARKED: MARK, **{chr(letter): place for place, letter in enumerate(LETTERS, 1)}}
    for letter in closing.replace("<a>", MARKED):
        if not matcher.is_complete and not matcher.try_accept([ones[letter]]):
            matcher.accept([MARK])
    assert matcher.is_complete
