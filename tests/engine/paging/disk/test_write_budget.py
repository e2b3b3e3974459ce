"""How much is written to the disk on one day."""

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.paging.disk.write_budget import DAY_SECONDS, WriteBudget, Writes

BUDGET = WriteBudget(1000)


def test_the_upper_half_of_a_day_is_for_all_pages_the_lower_for_those_used_twice() -> None:
    half = Writes(550.0, 0.0)
    assert BUDGET.allows(half, 50, used_twice=False)
    assert not BUDGET.allows(half, 51, used_twice=False)
    assert BUDGET.allows(half, 550, used_twice=True)
    assert not BUDGET.allows(half, 551, used_twice=True)


def test_half_a_day_fills_half_of_it() -> None:
    assert BUDGET.now(Writes(100.0, 0.0), DAY_SECONDS / 2).left_bytes == 600.0


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.integers(0, 2000)), max_size=20))
def test_no_jump_of_the_clock_fills_it_beyond_a_day(history: list[tuple[float, int]]) -> None:
    now, writes = 0.0, BUDGET.first(0.0)
    for jump, size in history:
        now += jump
        writes = BUDGET.after(BUDGET.now(writes, now), size)
        assert writes.left_bytes <= BUDGET.day_bytes - size
    assert writes.written_bytes == sum(size for _, size in history)


def test_a_clock_that_was_set_back_fills_nothing() -> None:
    assert BUDGET.now(Writes(100.0, 5000.0), 0.0).left_bytes == 100.0
