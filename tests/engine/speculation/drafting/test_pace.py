"""How many tokens are drafted, and when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.speculation.drafting import LONGEST, SHORTEST, Allowance, Pace


def lengths(steps: int, right: float) -> list[int]:
    """Drafts of each step when a share of them is right."""
    pace, made = Pace(), []
    for _ in range(steps):
        made.append(pace.length)
        pace.learn(pace.length, int(pace.length * right))
    return made


def after(*accepted: int) -> Pace:
    pace = Pace()
    for count in accepted:
        pace.learn(16, count)
    return pace


def test_drafts_grow_while_all_are_right() -> None:  # V8
    assert lengths(5, 1.0) == [4, 8, 16, 16, 16]


def test_drafts_shrink_while_all_are_wrong() -> None:  # V8
    assert lengths(4, 0.0) == [4, 2, 2, 2]


@given(st.lists(st.tuples(st.integers(0, 16), st.floats(0, 1)), max_size=200))
def test_the_bounds_hold(windows: list[tuple[int, float]]) -> None:  # V8
    pace = Pace()
    for drafted, share in windows:
        pace.learn(drafted, int(drafted * share))
        assert SHORTEST <= pace.length <= LONGEST


@pytest.mark.parametrize(
    ("accepted", "cost", "pays"),
    [
        ((), 0.5, False),
        ((4,), 0.5, True),
        ((4,), 4.0, False),
        ((4, 4, 4), 3.0, True),
        ((4, 0, 0), 0.4, True),
        ((4, 0, 0, 0), 0.4, False),
        ((0, 0, 0), 0.0, False),
    ],
)
def test_drafts_pay_while_they_save_more_than_they_take(accepted: tuple[int, ...], cost: float, pays: bool) -> None:
    assert after(*accepted).pays(cost) is pays


def test_what_guessing_took_counts_against_what_it_saved() -> None:
    pace = Pace()
    pace.learn(4, 4, 3.5)
    assert not pace.pays(0.5)


def test_a_step_without_drafts_teaches_nothing() -> None:
    pace = after(4)
    pace.learn(0, 0, 9.0)
    assert pace.pays(1.9)


@given(st.lists(st.integers(0, 16), max_size=200), st.floats(0.1, 8.0))
def test_what_drafts_that_pay_take_was_always_saved_before(accepted: list[int], cost: float) -> None:
    pace, saved = Pace(), 0.0
    for count in accepted:
        saved += count - (cost if pace.pays(cost) else 0.0)
        pace.learn(LONGEST, count)
        assert saved > -1e-9


def test_after_a_failure_nobody_tries_until_the_loss_is_a_small_share() -> None:
    allowance = Allowance()
    assert allowance.step()
    allowance.learn(0.0, 1.0)
    assert [allowance.step() for _ in range(60)].index(True) in (38, 39)


def test_a_success_allows_no_more_than_a_few_failures() -> None:
    allowance = Allowance()
    allowance.learn(100.0, 1.0)
    tries = 0
    while allowance.step():
        allowance.learn(0.0, 1.0)
        tries += 1
    assert tries == 3


def test_tries_that_pay_are_always_allowed() -> None:
    allowance = Allowance()
    for _ in range(200):
        assert allowance.step()
        allowance.learn(4.0, 3.5)
