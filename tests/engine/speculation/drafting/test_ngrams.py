"""What followed the last tokens when they came before."""

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.speculation.drafting.ngrams import NgramIndex

TEXTS = st.lists(st.integers(0, 3), max_size=40)


def followed(index: NgramIndex, count: int) -> list[int]:
    match = index.longest_match()
    return [] if match is None else index.following(match, count)


def test_what_followed_is_drafted() -> None:  # V8
    assert followed(NgramIndex([1, 2, 3, 4, 5, 6, 1, 2]), 3) == [3, 4, 5]


def test_the_longest_suffix_wins() -> None:  # V8
    assert followed(NgramIndex([1, 2, 3, 7, 0, 2, 3, 8, 0, 1, 2, 3]), 1) == [7]


def test_the_most_recent_match_wins() -> None:  # V8
    assert followed(NgramIndex([1, 2, 7, 1, 2, 8, 1, 2]), 1) == [8]


def test_one_token_alone_is_no_match() -> None:  # V8
    assert NgramIndex([1, 2, 3, 4, 1]).longest_match() is None


def test_a_period_goes_on() -> None:
    assert followed(NgramIndex([1, 2, 3, 1, 2, 3, 1, 2]), 7) == [3, 1, 2, 3, 1, 2, 3]


@given(TEXTS, TEXTS)
def test_adding_later_is_adding_at_once(first: list[int], then: list[int]) -> None:
    grown = NgramIndex(first)
    grown.extend(then)
    assert followed(grown, 8) == followed(NgramIndex(first + then), 8)


@given(TEXTS)
def test_adding_one_by_one_is_adding_at_once(text: list[int]) -> None:
    grown = NgramIndex()
    for token in text:
        grown.extend([token])
    assert followed(grown, 8) == followed(NgramIndex(text), 8)


@given(TEXTS)
def test_a_match_is_the_last_occurrence_of_the_longest_suffix(text: list[int]) -> None:  # V8
    expected: list[int] = []
    for size in (4, 3, 2):
        places = [end for end in range(size, len(text)) if text[end - size : end] == text[len(text) - size :]]
        if len(text) > size and places:
            expected = [text[places[-1]]]
            break
    assert followed(NgramIndex(text), 1) == expected
