"""How fast prompts are computed: measured beside whatever else a batch holds."""

import pytest

from pie_mlx.engine.paging.prefill_rate import PrefillRate


def test_decode_steps_alone_say_nothing() -> None:  # R3
    rate = PrefillRate()
    rate.observe([1] * 48, 0.1)
    assert rate.tokens_per_second is None


def test_long_pieces_count_for_more_than_short_ones() -> None:  # R3
    rate = PrefillRate()
    rate.observe([500, 500], 1.0)
    rate.observe([16], 0.1)
    assert rate.tokens_per_second == pytest.approx((0.9 * 1000 + 16) / (0.9 * 1.0 + 0.1))


def test_a_piece_among_many_that_decode_is_measured_without_them() -> None:  # Q8, R3
    rate = PrefillRate()
    rate.observe([1] * 47 + [100], 0.3, decode_seconds=0.2)
    assert rate.tokens_per_second == pytest.approx(1000.0)


def test_a_rate_that_was_measured_too_low_recovers_among_many_that_decode() -> None:  # Q8
    rate = PrefillRate()
    rate.observe([32], 32.0)
    for _ in range(60):
        rate.observe([1] * 47 + [32], 0.232, decode_seconds=0.2)
    assert rate.tokens_per_second == pytest.approx(1000.0, rel=0.3)
