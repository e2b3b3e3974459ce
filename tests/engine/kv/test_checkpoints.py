"""States of recurrent layers, kept within a limit."""

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.kv.checkpoints import Checkpoints

KEYS = [bytes([number]) for number in range(6)]


def test_the_deepest_page_with_a_state_counts() -> None:
    checkpoints = Checkpoints[str](100)
    checkpoints.put(KEYS[1], "second", 10)
    checkpoints.put(KEYS[3], "fourth", 10)
    assert checkpoints.deepest(KEYS[:3]) == 2
    assert checkpoints.deepest(KEYS) == 4
    assert checkpoints.deepest(KEYS[4:]) == 0


def test_a_state_that_exceeds_the_limit_is_not_kept_and_drops_no_other() -> None:
    checkpoints = Checkpoints[str](100)
    checkpoints.put(KEYS[0], "small", 60)
    checkpoints.put(KEYS[1], "large", 101)
    assert KEYS[0] in checkpoints
    assert KEYS[1] not in checkpoints


@given(st.lists(st.tuples(st.sampled_from(KEYS), st.integers(0, 40), st.booleans()), max_size=40))
def test_the_least_recently_used_states_go_first_and_the_limit_holds(acts: list[tuple[bytes, int, bool]]) -> None:
    checkpoints, expected = Checkpoints[int](64), dict[bytes, int]()
    for key, size, put in acts:
        if put:
            expected.pop(key, None)
            expected[key] = size
            checkpoints.put(key, size, size)
            while sum(expected.values()) > 64:
                del expected[next(iter(expected))]
        elif key in expected:
            expected[key] = expected.pop(key)
            assert checkpoints.get(key) == expected[key]
    assert [key in checkpoints for key in KEYS] == [key in expected for key in KEYS]
    assert checkpoints.size_bytes == sum(expected.values())
