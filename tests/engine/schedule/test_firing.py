import pytest

from pie_mlx.engine.schedule import FireNow, FiringState, WaitSeconds, is_stalled, when_to_fire

USUAL = FiringState(high_water_contexts=4, last_batch_seconds=0.02, completed_batches=3)


@pytest.mark.parametrize(
    ("state", "runnable", "oldest_seconds"),
    [
        (USUAL, 8, 0.0),
        (USUAL, 4, 0.0),
        (FiringState(0, 0.02, 1), 1, 0.0),
        (FiringState(4, 0.0, 1), 1, 0.0),
        (USUAL, 1, 0.02),
    ],
    ids=["batch full", "as many as last time", "first fire", "no batch timed yet", "waited as long as a batch"],
)
def test_a_batch_fires_at_once(state: FiringState, runnable: int, oldest_seconds: float):  # Q9
    assert when_to_fire(state, runnable, 8, oldest_seconds) == FireNow()


def test_a_smaller_batch_waits_for_others_at_most_as_long_as_the_last_took():  # Q9
    assert when_to_fire(USUAL, 3, 8, 0.005) == WaitSeconds(0.015)


def test_a_high_water_mark_above_the_batch_limit_does_not_delay_a_full_batch():  # Q9
    assert when_to_fire(USUAL, 2, 2, 0.0) == FireNow()


def test_the_high_water_mark_rises_at_once_and_falls_by_one():  # Q9
    assert USUAL.fired(9).high_water_contexts == 9
    assert USUAL.fired(1).high_water_contexts == 3


def test_the_first_batch_is_warm_up_and_sets_no_time():  # Q9
    first = FiringState().completed(5.0)
    assert first.last_batch_seconds == 0.0
    assert first.completed(0.03).last_batch_seconds == 0.03


def test_programs_have_one_batch_time_to_answer_before_the_engine_counts_as_stalled():  # Q2
    assert not is_stalled(USUAL, False, 0, 0.01)
    assert is_stalled(USUAL, False, 0, 0.02)


def test_an_engine_with_something_to_run_is_not_stalled():  # Q2
    assert not is_stalled(USUAL, True, 0, 9.0)
    assert not is_stalled(USUAL, False, 1, 9.0)
