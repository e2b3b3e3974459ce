"""What is remembered of failed logins."""

import pytest

from pie_mlx.server.access.login_failures import COUNTED, NETWORK_LIMIT, USER_LIMIT, LoginFailures


class Clock:
    seconds = 0.0

    def __call__(self):
        return self.seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def failures(clock):
    return LoginFailures(clock)


def fail(failures, times, user="ada", address="192.0.2.1"):
    for _ in range(times):
        failures.count_failure(user, address)


def test_failures_as_a_user_count_for_that_user_at_that_address(failures):
    fail(failures, USER_LIMIT - 1)
    assert not failures.exceed_limit("ada", "192.0.2.1")
    fail(failures, 1)
    assert failures.exceed_limit("ada", "192.0.2.1")
    assert not failures.exceed_limit("bob", "192.0.2.1")
    assert not failures.exceed_limit("ada", "192.0.2.2")


def test_failures_are_forgotten_after_a_minute(failures, clock):
    fail(failures, NETWORK_LIMIT)
    clock.seconds = 61
    assert not failures.exceed_limit("ada", "192.0.2.1")
    assert failures.delay_seconds("192.0.2.1") == 0


def test_very_many_failures_of_an_address_delay_all_who_log_in_from_there(failures):
    for number in range(NETWORK_LIMIT):
        assert failures.delay_seconds("192.0.2.1") == 0
        fail(failures, 1, f"user{number}")
    assert failures.delay_seconds("192.0.2.1") == 1
    assert failures.delay_seconds("192.0.2.2") == 0


@pytest.mark.parametrize(
    ("address", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "192.0.2.2", False),
        ("fe80::1%eth0", "fe80::2", True),
        ("local", "local", True),
    ],
)
def test_who_has_many_addresses_is_counted_once(failures, address, other, same):
    fail(failures, USER_LIMIT, address=address)
    assert failures.exceed_limit("ada", other) is same


def test_the_least_recent_user_and_address_are_forgotten_beyond_the_limit(failures):
    fail(failures, NETWORK_LIMIT)
    for number in range(COUNTED - 1):
        fail(failures, 1, f"user{number}", f"2001:db8:0:{number:x}::1")
    assert failures.exceed_limit("ada", "192.0.2.1")
    assert failures.delay_seconds("192.0.2.1") > 0
    fail(failures, 1, "bob", "192.0.2.2")
    assert not failures.exceed_limit("ada", "192.0.2.1")
    assert failures.delay_seconds("192.0.2.1") == 0
