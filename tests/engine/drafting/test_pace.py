"""How many tokens are drafted."""

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.drafting.costs import window_cost
from pie_mlx.engine.drafting.pace import LONGEST, SHORTEST, Pace


def lengths(pace: Pace, steps: int, right: float, streams: int = 1) -> list[int]:
    """Drafts of each step when a share of them is right."""
    made: list[int] = []
    for _ in range(steps):
        made.append(pace.next_length())
        pace.learn(made[-1], int(made[-1] * right), window_cost(made[-1], streams))
    return made


def test_drafts_grow_while_all_are_right() -> None:  # V8
    assert lengths(Pace(), 5, 1.0) == [4, 8, 16, 16, 16]


def test_drafts_shrink_to_none_while_all_are_wrong() -> None:  # V8
    made = lengths(Pace(), 10, 0.0)
    assert made[:2] == [4, 2]
    assert made[-1] == 0


def test_a_pause_ends_and_the_next_is_longer() -> None:  # V8
    made = lengths(Pace(), 70, 0.0)
    pauses = [len(run) for run in "".join("0" if not count else "x" for count in made).split("x") if run]
    assert pauses[:3] == [8, 16, 32]


def test_a_full_batch_needs_more_right_drafts() -> None:
    alone, shared = lengths(Pace(), 12, 0.5), lengths(Pace(), 12, 0.5, 16)
    assert 0 not in alone
    assert 0 in shared


def test_a_step_without_drafts_teaches_nothing() -> None:
    pace = Pace()
    for _ in range(100):
        pace.learn(0, 0, 0.0)
    assert pace.next_length() == 4


@given(st.integers(64, 512), st.integers(1, 64))
def test_text_that_never_repeats_costs_little(steps: int, streams: int) -> None:
    lost = sum(window_cost(count, streams) for count in lengths(Pace(), steps, 0.0, streams) if count)
    assert lost <= 0.06 * steps + window_cost(4, streams) + 1


@given(st.lists(st.floats(0, 1), max_size=200))
def test_the_bounds_hold(right: list[float]) -> None:  # V8
    pace = Pace()
    for share in right:
        count = pace.next_length()
        assert count == 0 or SHORTEST <= count <= LONGEST
        pace.learn(count, int(count * share), window_cost(count, 1))
