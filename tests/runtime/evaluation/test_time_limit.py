"""A computation that takes too long is ended, and what else uses the timer is not disturbed."""

import re
import signal
import threading

import pytest

from pie_mlx.runtime.evaluation.time_limit import time_limit

ENDLESS = re.compile(r"(a+)+$")


def test_a_regular_expression_that_needs_years_is_ended_and_the_timer_is_as_before():
    signal.setitimer(signal.ITIMER_REAL, 1000.0)
    handler = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeoutError), time_limit(0.01):
        ENDLESS.search("a" * 60 + "b")
    assert signal.getsignal(signal.SIGALRM) is handler
    assert 0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 1000.0


def test_what_is_quick_goes_on():
    with time_limit(10.0):
        assert ENDLESS.search("aaa")


def test_another_thread_is_not_limited():
    found = []

    def search():
        with time_limit(0.001):
            found.append(ENDLESS.search("a" * 12 + "b"))

    thread = threading.Thread(target=search)
    thread.start()
    thread.join()
    assert found == [None]
