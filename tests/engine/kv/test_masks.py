"""Run-length masks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.kv.masks import (
    canonical_row,
    from_bits,
    is_empty,
    row_runs,
    to_bits,
    trim_pages,
)
from pie_mlx.errors import InvalidArgumentError

RUNS = st.lists(st.integers(0, 9), max_size=8)


def bits(runs: list[int]) -> list[bool]:
    return to_bits(runs, sum(runs)).tolist()


@pytest.mark.parametrize(
    ("text", "runs"),
    [("FFTTTF", [2, 3, 1]), ("TTF", [0, 2, 1]), ("T" * 128, [0, 128]), ("FFFFF", [5]), ("", [])],
)
def test_runs_and_bits_round_trip(text: str, runs: list[int]):  # F13, T32
    assert from_bits([letter == "T" for letter in text]) == runs
    assert bits(runs) == [letter == "T" for letter in text]


def test_a_negative_run_is_refused():  # F13
    for read in (lambda runs: to_bits(runs, 3), lambda runs: canonical_row(runs, 3)):
        with pytest.raises(InvalidArgumentError):
            read([2, -1])


@pytest.mark.parametrize("spelling", [[0, 6], [0, 9], [0, 2, 0, 4], [0, 6, 3]])
def test_a_full_causal_row_is_no_row(spelling: list[int]):  # K2, T34
    assert canonical_row(spelling, slot=5) is None


def test_a_short_row_hides_the_slots_it_does_not_describe():  # F7
    assert row_runs(canonical_row([0, 3], slot=5), slot=5) == [0, 3, 3]


@given(RUNS, st.integers(0, 40))
def test_a_canonical_row_has_the_bits_up_to_its_own_slot(runs: list[int], slot: int):  # K2
    expected = to_bits(runs, slot + 1).tolist()
    assert bits(row_runs(canonical_row(runs, slot), slot)) == expected


@given(RUNS, RUNS, st.integers(0, 40))
def test_rows_are_equal_exactly_when_the_token_sees_the_same(a: list[int], b: list[int], slot: int):  # K2
    same = to_bits(a, slot + 1).tolist() == to_bits(b, slot + 1).tolist()
    assert (canonical_row(a, slot) == canonical_row(b, slot)) == same


@pytest.mark.parametrize(("runs", "hides"), [([5], True), ([], True), ([2, 0, 3], True), ([2, 1], False)])
def test_a_mask_that_hides_everything_is_empty(runs: list[int], hides: bool):  # F7
    assert is_empty(runs) is hides


@pytest.mark.parametrize(
    ("row", "pages", "trimmed"),
    [([0, 4, 252, 64], [0, 16, 17, 18, 19], [0, 4, 12, 64]), ([240, 80], [15, 16, 17, 18, 19], [0, 80])],
)
def test_pages_hidden_from_every_row_are_left_out(row: list[int], pages: list[int], trimmed: list[int]):  # F8, T33
    assert trim_pages([row], 320, 16) == (pages, [trimmed])


def test_a_page_on_which_rows_disagree_is_kept():  # F8, T33
    pages, rows = trim_pages([[16, 31], [32, 16]], 48, 16)
    assert pages == [1, 2]
    assert rows == [[0, 31, 1], [16, 16]]


def test_the_pages_of_the_input_itself_are_kept():  # F8
    assert trim_pages([[0, 1]] * 20, 36, 16).pages == [0, 1, 2]
    assert trim_pages([[32, 8]] * 20, 40, 16).pages == [1, 2]


@given(
    st.integers(1, 4),
    st.integers(1, 60).flatmap(
        lambda size: st.tuples(
            st.lists(st.lists(st.booleans(), min_size=size, max_size=size), min_size=1, max_size=min(size, 3)),
            st.just(size),
        )
    ),
)
def test_a_trimmed_row_sees_the_same_slots(page_size: int, rows_and_size: tuple[list[list[bool]], int]):  # F8
    rows, size = rows_and_size
    pages, trimmed = trim_pages([from_bits(row) for row in rows], size, page_size)
    slots = [slot for page in pages for slot in range(page * page_size, min(size, (page + 1) * page_size))]
    for row, short in zip(rows, trimmed, strict=True):
        assert sum(short) == len(slots)
        seen = np.asarray(slots)[to_bits(short, len(slots))].tolist()
        assert seen == [slot for slot in range(size) if row[slot]]
