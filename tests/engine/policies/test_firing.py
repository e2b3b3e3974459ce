from collections.abc import Callable

import pytest

from pie_mlx.engine.policies import FireNow, FiringState, WaitSeconds, is_stalled, when_to_fire


def everyone(context: int) -> bool:
    return True


USUAL = FiringState((frozenset({1, 2, 3, 4}),), (0.02, 0.02), 3)


@pytest.mark.parametrize(
    ("state", "runnable", "may_return", "oldest_seconds"),
    [
        (USUAL, [5, 6, 7, 8], everyone, 0.0),
        (USUAL, [4, 3, 2, 1], everyone, 0.0),
        (FiringState((), (0.02, 0.02), 3), [1], everyone, 0.0),
        (FiringState((frozenset({1, 2}),), (), 1), [1], everyone, 0.0),
        (USUAL, [1], everyone, 0.02),
        (USUAL, [1, 2], {1, 2, 5}.__contains__, 0.0),
    ],
    ids=[
        "batch full",
        "all of the last one",
        "first fire",
        "no batch timed yet",
        "waited as long as a batch",
        "the others are gone",
    ],
)
def test_a_batch_fires_at_once(
    state: FiringState, runnable: list[int], may_return: Callable[[int], bool], oldest_seconds: float
):  # Q9
    assert when_to_fire(state, runnable, may_return, 4, oldest_seconds) == FireNow()


def test_a_batch_waits_for_those_of_the_last_at_most_as_long_as_it_took():  # Q9
    assert when_to_fire(USUAL, [1, 2, 3], everyone, 8, 0.005) == WaitSeconds(0.015)


def test_who_missed_two_batches_is_no_longer_awaited():  # Q9
    assert USUAL.fired([1, 2, 3]).missing([1, 2, 3]) == {4}
    assert not USUAL.fired([1, 2, 3]).fired([1, 2, 3]).missing([1, 2, 3])


def test_the_first_batch_is_warm_up_and_sets_no_time():  # Q9
    first = FiringState().completed(5.0)
    assert first.last_batch_seconds == 0.0
    assert first.completed(0.03).last_batch_seconds == 0.03


def test_a_long_prefill_makes_nobody_wait_as_long():  # Q9
    assert USUAL.completed(0.5).last_batch_seconds == 0.02


def test_programs_have_one_batch_time_to_answer_before_the_engine_counts_as_stalled():  # Q2
    assert not is_stalled(USUAL, 0.01)
    assert is_stalled(USUAL, 0.02)
