"""How users share the device."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.policies import SharingMode, UserTurns, rows_of_each
from pie_mlx.engine.policies.sharing import (
    MOST_CREDIT_SECONDS,
    MOST_TURNS_SECONDS,
    TURN_SECONDS,
)

BATCHES = st.lists(st.floats(1e-4, 0.4), min_size=1, max_size=80)


@given(st.integers(2, 6), BATCHES)
def test_no_user_with_work_falls_behind_its_share_by_more_than_a_turn_and_a_batch(users: int, batches: list[float]):
    turns, had = UserTurns(), dict.fromkeys(map(str, range(users)), 0.0)
    for seconds in batches:
        turns = turns.given(had.keys())
        turns = turns.charged(seconds)
        had[turns.holder] += seconds
        bound = max(MOST_CREDIT_SECONDS, TURN_SECONDS + max(batches))
        assert all(sum(had.values()) / users - one <= bound for one in had.values())


@given(st.lists(st.tuples(st.sets(st.sampled_from("abcd"), min_size=1), st.floats(1e-4, 0.4)), max_size=60))
def test_the_turn_is_always_of_somebody_with_work_and_credit_is_bounded(steps: list[tuple[set[str], float]]):
    turns = UserTurns()
    for users, seconds in steps:
        turns = turns.given(users)
        assert turns.holder in users
        assert turns.used[turns.holder] <= min(turns.used[user] for user in users) + TURN_SECONDS
        turns = turns.charged(seconds)


def test_a_turn_goes_on_until_its_user_is_two_frames_ahead():
    turns = UserTurns().given(["ada", "bob"])
    assert turns.holder == "ada"
    assert turns.seconds_left(["ada", "bob"]) == TURN_SECONDS
    assert turns.charged(TURN_SECONDS / 2).given(["ada", "bob"]).holder == "ada"
    assert turns.charged(TURN_SECONDS).given(["ada", "bob"]).holder == "bob"


def test_who_wanted_nothing_for_an_hour_may_use_no_more_than_its_credit_first():
    turns = UserTurns({"ada": 3600.0, "bob": 0.0}, "ada", ["ada"]).given(["ada", "bob"])
    assert turns.holder == "bob"
    assert turns.seconds_left(["ada", "bob"]) == pytest.approx(MOST_CREDIT_SECONDS + TURN_SECONDS)


def test_users_who_are_gone_leave_nothing_behind():
    turns = UserTurns()
    for number in range(100):
        turns = turns.given([str(number)]).charged(1.0)
    assert len(turns.used) <= 2


def shared(mode: SharingMode, batch_seconds: float, got: Mapping[str, float], seconds: float) -> SharingMode:
    """The mode after so many seconds of shared batches."""
    now = max(0.0, mode.since)
    for _ in range(round(seconds / batch_seconds)):
        now += batch_seconds
        if mode.together:
            mode = mode.after_shared(now, batch_seconds, got)
    return mode


def test_rows_that_cost_nothing_are_never_split():
    """A batch of 65 rows takes a tenth longer than that of one."""
    assert shared(SharingMode(), 0.022, {"ada": 0.020, "mallory": 0.0219}, 3.0).together


def test_users_take_turns_where_a_batch_of_all_leaves_one_less_than_its_share():
    assert not shared(SharingMode(), 0.010, {"ada": 0.001, "mallory": 0.0099}, 3.0).together


def test_a_user_that_is_left_out_of_shared_batches_gets_turns():
    assert not shared(SharingMode(), 0.010, {"ada": 0.0, "mallory": 0.010}, 3.0).together


def test_a_batch_of_all_is_tried_again_ever_more_rarely():
    mode, lengths = SharingMode(), list[float]()
    for _ in range(8):
        mode = shared(mode, 0.010, {"ada": 0.001, "mallory": 0.0099}, 3.0)
        lengths.append(mode.until - mode.since)
        assert mode.after_turn(mode.until - 0.01) == mode
        mode = mode.after_turn(mode.until)
        assert mode.together
    assert lengths == pytest.approx([3.2, *[MOST_TURNS_SECONDS] * 7], rel=0.2)


def test_a_stall_of_the_machine_says_nothing():
    mode = SharingMode().after_shared(0.0, 0.02, {"ada": 0.02, "bob": 0.02})
    mode = mode.after_shared(0.11, 0.11, {"ada": 0.02, "bob": 0.02})
    for now in (0.13, 0.15, 0.17, 0.19, 0.21):
        mode = mode.after_shared(now, 0.02, {"ada": 0.02, "bob": 0.02})
    assert mode.together


def test_turns_measure_anew_ever_more_rarely_where_batches_are_good():
    mode = shared(SharingMode(), 0.02, {"ada": 0.02, "mallory": 0.02}, 100.0)
    assert not mode.together
    assert mode.together_seconds == 8.0
    assert mode.after_turn(mode.until).until == mode.until + 8.0


@pytest.mark.parametrize(
    ("wanted", "rows"), [([1, 200], 63), ([2, 2], 2), ([100, 100], 32), ([1, 1, 200], 62), ([64] * 65, 1)]
)
def test_users_with_few_contexts_have_rows_for_all_of_them(wanted: list[int], rows: int):
    assert rows_of_each(wanted, 64) == rows
