import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.tui.model import text


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (950, "950"), (9999, "9999"), (12_345, "12.3k"), (999_400, "999k"), (999_999, "1M"), (2e9, "2G")],
)
def test_counts_are_short(number, shown):
    assert text.count(number) == shown


@pytest.mark.parametrize(
    ("number", "shown"),
    [(0, "0"), (0.00006, "<.0001"), (0.0051, "0.0051"), (1.234, "1.23"), (63.44, "63.4"), (1203.0, "1203")],
)
def test_credits_show_the_digits_that_count(number, shown):
    assert text.credits(number) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0 ms"), (0.00064, "640 us"), (0.0123, "12.3 ms"), (0.9999, "1 s"), (1.25, "1.25 s"), (75.0, "75 s")],
)
def test_durations_have_their_unit(seconds, shown):
    assert text.duration(seconds) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(4.9, "4s"), (187, "3:07"), (7500, "2h05"), (6 * 86400 + 3 * 3600, "6d03")]
)
def test_ages_are_short(seconds, shown):
    assert text.age(seconds) == shown


def test_a_place_in_a_recording_is_minutes_and_tenths():
    assert text.clock(83.44) == "01:23.4"


def test_moments_of_live_engines_are_times_of_day_and_those_of_recordings_places():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", "UTC")
        time.tzset()
        assert text.moment(1_790_000_000.0, 1_789_999_000.0) == "14:13:20"
        assert text.moment(183.44, 100.0) == "01:23.4"
    time.tzset()


def test_a_rate_of_nothing_is_nothing():
    assert [text.rate(0), text.rate(3.44), text.rate(120.2)] == ["0", "3.4", "120"]


@pytest.mark.parametrize("hostile", ["\x1b[2Jx", "a\rb", "\u202eabc", "\x9b31m", "a\x00b", "\ud800"])
def test_text_of_programs_loses_what_would_steer_the_terminal(hostile):
    kept = text.clean(hostile)
    assert not set(kept) & set("\x1b\r\u202e\x9b\x00\ud800")


@given(st.text())
def test_one_line_is_one_line(words):
    line = text.one_line(words)
    assert line.isprintable() or not line
    assert "\n" not in line
