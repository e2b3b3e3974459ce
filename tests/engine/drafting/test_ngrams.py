"""What followed the last tokens when they came before."""

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.drafting.ngrams import NgramIndex

TEXTS = st.lists(st.integers(0, 3), max_size=40)


def test_what_followed_is_drafted() -> None:  # V8
    assert NgramIndex([1, 2, 3, 4, 5, 6, 1, 2]).follow(3) == [3, 4, 5]


def test_the_longest_suffix_wins() -> None:  # V8
    assert NgramIndex([1, 2, 3, 7, 0, 2, 3, 8, 0, 1, 2, 3]).follow(1) == [7]


def test_the_most_recent_match_wins() -> None:  # V8
    assert NgramIndex([1, 2, 7, 1, 2, 8, 1, 2]).follow(1) == [8]


def test_one_token_alone_is_no_match() -> None:  # V8
    assert NgramIndex([1, 2, 3, 4, 1]).follow(4) == []


def test_a_period_goes_on() -> None:
    assert NgramIndex([1, 2, 3, 1, 2, 3, 1, 2]).follow(7) == [3, 1, 2, 3, 1, 2, 3]


@given(TEXTS, TEXTS)
def test_adding_later_is_adding_at_once(first: list[int], then: list[int]) -> None:
    grown = NgramIndex(first)
    grown.extend(then)
    assert grown.follow(8) == NgramIndex(first + then).follow(8)


@given(TEXTS)
def test_a_match_is_the_last_occurrence_of_the_longest_suffix(text: list[int]) -> None:  # V8
    expected: list[int] = []
    for size in (4, 3, 2):
        places = [end for end in range(size, len(text)) if text[end - size : end] == text[len(text) - size :]]
        if len(text) > size and places:
            expected = [text[places[-1]]]
            break
    assert NgramIndex(text).follow(1) == expected
