import re

import pytest


def test_each_position_shows_shares_that_fit_together(play):
    played = play("raw-logits", {"top": 2})
    rows = [[float(number) for number in re.findall(r"\d\.\d{3}", line)] for line in played.messages]
    assert len(rows) == 8
    assert all(likeliest >= own and likeliest + second <= 1.001 for own, _, likeliest, second in rows)


def test_a_wrong_answer_is_less_likely(play):
    right, wrong = play("raw-logits").result, play("raw-logits", {"answer": "47 + 38 = 75"}).result
    assert wrong < right < 0


def test_likelihoods_add_up(play):
    played = play("raw-logits", {"answer": "47"})
    assert played.result == pytest.approx(0, abs=0.1)
