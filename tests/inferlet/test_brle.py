"""Run-length masks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inferlet import brle
from pie_mlx.errors import InvalidArgumentError, InvalidTypeError

bits = st.lists(st.booleans(), max_size=40)
runs = st.lists(st.integers(0, 5), max_size=12)


def encoded(values: list[bool]) -> list[int]:
    return brle.canonical([part for value in values for part in ([0, 1] if value else [1, 0])])


def decoded(mask: list[int]) -> list[bool]:
    return [place % 2 == 1 for place, length in enumerate(mask) for _ in range(length)]


@pytest.mark.parametrize(
    ("text", "mask"), [("FFTTTF", [2, 3, 1]), ("TTF", [0, 2, 1]), ("T" * 128, [0, 128]), ("FFFFF", [5]), ("", [])]
)
def test_examples(text: str, mask: list[int]) -> None:  # F13, T32
    assert encoded([letter == "T" for letter in text]) == mask


def test_and_examples() -> None:  # T32
    assert brle.brle_and([0, 4, 2], [2, 4]) == [2, 2, 2]
    assert brle.brle_and([1, 0, 2, 3], [0, 100]) == [3, 3]
    assert brle.brle_and([0, 4, 2], []) == []


@given(runs)
def test_canonical_keeps_the_mask_in_minimal_runs(mask: list[int]) -> None:  # F13
    minimal = brle.canonical(mask)
    assert decoded(minimal) == decoded(mask)
    assert 0 not in minimal[1:]


@given(bits, bits)
def test_and_is_as_long_as_the_shorter(left: list[bool], right: list[bool]) -> None:  # F13
    both = [one and other for one, other in zip(left, right, strict=False)]
    assert brle.brle_and(encoded(left), encoded(right)) == encoded(both)


@given(st.lists(runs, max_size=4), st.integers(1, 30))
def test_combine_allows_what_all_masks_allow(masks: list[list[int]], width: int) -> None:  # F13
    given_masks = [brle.restriction(mask) for mask in masks]
    together = brle.combine(given_masks)
    allowed = [
        all(not mask or (token < len(decoded(mask)) and decoded(mask)[token]) for mask in given_masks)
        for token in range(width)
    ]
    assert brle.allows_any(together, width) == any(allowed)


def test_only_the_empty_mask_restricts_nothing() -> None:  # F13
    assert brle.restriction([]) == []
    assert brle.restriction([0, 0]) == [0]
    assert not brle.allows_any([0], 10)
    assert brle.combine([[], []]) == []
    assert brle.combine([[0, 3], [0]]) == [0]


def test_allow_only() -> None:
    assert brle.allow_only([9, 5, 5]) == [5, 1, 3, 1]
    assert brle.allow_only([0, 1]) == [0, 2]
    with pytest.raises(InvalidArgumentError):
        brle.allow_only([])
    with pytest.raises(InvalidArgumentError):
        brle.allow_only([-1])


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=6))
def test_spans_are_true_exactly_where_one_of_them_is(pairs: list[tuple[int, int]]) -> None:  # F7, F13
    mask = decoded(brle.spans(*pairs))
    inside = {place for start, stop in pairs for place in range(start, stop)}
    assert {place for place, value in enumerate(mask) if value} == inside
    assert brle.canonical(brle.spans(*pairs)) == brle.spans(*pairs)


def test_spans_examples() -> None:
    assert brle.spans((0, 4), (252, 316)) == [0, 4, 248, 64]
    assert brle.spans(range(2, 5), (5, 7)) == [2, 5]
    assert brle.spans() == []
    for wrong in ((-1, 3), range(0, 9, 2)):
        with pytest.raises(InvalidArgumentError):
            brle.spans(wrong)


def test_runs_are_counts() -> None:  # F13
    with pytest.raises(InvalidArgumentError):
        brle.canonical([1, -1])
    with pytest.raises(InvalidTypeError):
        brle.canonical([1.5])  # pyright: ignore[reportArgumentType]
