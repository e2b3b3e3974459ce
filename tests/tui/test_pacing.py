import pytest

from pie_mlx.tui.pacing import LONGEST_PAUSE_SECONDS, MOST_LOAD, Pacing


@pytest.mark.parametrize(("cost_seconds", "pause_seconds"), [(0.005, 0.1), (0.02, 0.4), (5.0, LONGEST_PAUSE_SECONDS)])
def test_a_refresh_waits_until_the_one_before_was_a_small_part_of_the_time(cost_seconds, pause_seconds):
    pacing = Pacing()
    pacing.begin(100.0, 7.0)
    assert not pacing.is_due(100.0 + 0.99 * pause_seconds, 7.0 + cost_seconds)
    assert pacing.is_due(100.0 + 1.01 * pause_seconds, 7.0 + cost_seconds)


def test_what_was_done_besides_refreshing_counts_too():
    pacing = Pacing()
    pacing.begin(0.0, 0.0)
    assert pacing.is_due(1.0, 0.9 * MOST_LOAD)
    assert not pacing.is_due(1.0, 1.1 * MOST_LOAD)


def test_the_first_refresh_comes_at_once():
    assert Pacing().is_due(1000.0, 3.0)
