"""The threads a training takes on a shared machine."""

from tools.tiny.threads import SpareThreads


def test_a_run_of_one_thread_takes_one() -> None:
    assert SpareThreads(1).count() == 1


def test_nothing_is_taken_before_the_machine_was_looked_at() -> None:
    assert SpareThreads(2).count() == 1
