"""What verifying takes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.speculation.drafting import Lately, Tick, WindowCost


def plain(contexts: int, seconds: float) -> Tick:
    return Tick(contexts, contexts, 0, 0, seconds)


def drafted(contexts: int, windows: int, seconds: float) -> Tick:
    return Tick(contexts, contexts + 4 * windows, windows, 4 * windows, seconds)


def cost_after(*ticks: Tick) -> WindowCost:
    cost = WindowCost()
    for tick in ticks:
        cost.observe(tick)
    return cost


def test_a_stall_says_nothing() -> None:
    lately = Lately()
    assert lately.median is None
    for seconds in (1.0, 1.2, 90.0, 1.1, 1.0):
        lately.add(seconds)
    assert lately.median == 1.1


def test_the_low_value_is_one_that_a_few_slow_times_do_not_change() -> None:
    lately = Lately()
    for seconds in (1.0, 3.0, 1.1, 3.0, 3.0, 1.1, 3.0, 3.0):
        lately.add(seconds)
    assert lately.low == 1.1


def test_what_was_long_ago_is_forgotten() -> None:
    lately = Lately()
    for seconds in (*[9.0] * 40, *[1.0] * 15):
        lately.add(seconds)
    assert lately.median == 1.0


@pytest.mark.parametrize("contexts", [1, 8])
def test_before_anything_is_known_a_window_costs_half_the_batch_again(contexts: int) -> None:
    assert WindowCost().steps(contexts) == 0.5 * contexts
    assert cost_after(drafted(contexts, 1, 1.0)).steps(contexts) == 0.5 * contexts


def test_the_first_windows_may_be_slow_ones_and_say_nothing_yet() -> None:
    cost = cost_after(plain(1, 1.0), *[drafted(1, 1, 90.0)] * 2)
    assert cost.steps(1) == 0.5


@pytest.mark.parametrize(
    ("contexts", "windows", "seconds", "steps"),
    [(1, 1, 1.5, 0.5), (8, 1, 1.5, 4.0), (8, 8, 2.0, 1.0), (8, 2, 0.9, 0.0)],
)
def test_a_window_costs_what_all_wait_for_it(contexts: int, windows: int, seconds: float, steps: float) -> None:
    cost = cost_after(plain(contexts, 1.0), *[drafted(contexts, windows, seconds)] * 3)
    assert cost.steps(contexts) == pytest.approx(steps)


@pytest.mark.parametrize(("alone", "saved"), [(0.125, 1 / 8), (0.3, 0.1), (0.9, 1 / 16), (1.2, 1 / 16)])
def test_a_step_saved_is_worth_what_a_smaller_batch_saves(alone: float, saved: float) -> None:
    cost = cost_after(plain(8, 1.0), plain(1, alone), *[drafted(8, 1, 1.5)] * 3)
    assert cost.steps(8) == pytest.approx(0.5 / saved)


def test_ticks_that_read_prompts_say_nothing() -> None:
    cost = cost_after(plain(2, 1.0), Tick(2, 60, 0, 0, 30.0), Tick(2, 64, 1, 4, 30.0))
    assert cost.plain_seconds(2) == 1.0
    assert cost.steps(2) == 1.0


def test_a_window_is_compared_with_plain_ticks_of_as_many_contexts() -> None:
    cost = cost_after(plain(1, 1.0), plain(8, 2.0), *[drafted(8, 1, 3.0)] * 3)
    assert cost.steps(8) >= 4.0
    assert [cost.plain_seconds(contexts) for contexts in (1, 3, 6, 64)] == [1.0, 1.0, 2.0, 2.0]


def test_what_a_window_adds_in_one_batch_it_adds_in_another() -> None:
    cost = cost_after(plain(8, 4.0), plain(1, 0.5), *[drafted(8, 1, 4.3)] * 3)
    assert cost.steps(1) == pytest.approx(0.6)


def test_windows_in_one_batch_have_a_price_of_their_own() -> None:
    alone, together = [drafted(2, 1, 1.02)] * 9, [drafted(2, 2, 1.5)] * 3
    assert cost_after(plain(2, 1.0), *alone, *together).steps(2) == pytest.approx(0.5)
    assert cost_after(plain(2, 1.0), *together, *alone).steps(2) == pytest.approx(0.04)


def test_the_first_batch_with_so_many_windows_may_be_one_that_is_made_for_it() -> None:
    alone = [drafted(2, 1, 1.02)] * 9
    assert cost_after(plain(2, 1.0), *alone, drafted(2, 2, 90.0)).steps(2) == pytest.approx(0.04)


@given(st.lists(st.tuples(st.integers(1, 8), st.integers(0, 8), st.floats(0.001, 10.0)), max_size=60))
def test_a_window_never_costs_less_than_nothing(ticks: list[tuple[int, int, float]]) -> None:
    cost = cost_after(*(drafted(contexts, min(windows, contexts), seconds) for contexts, windows, seconds in ticks))
    assert cost.steps(8) >= 0.0


def test_a_plain_step_right_after_a_window_says_nothing_of_plain_decoding() -> None:
    cost = cost_after(plain(1, 1.0), plain(1, 1.0), plain(1, 1.0), *[drafted(1, 1, 2.0), plain(1, 9.0)] * 5)
    assert cost.plain_seconds(1) == 1.0
    cost.observe(plain(1, 1.2))
    assert cost.plain_seconds(1) == 1.0
    assert cost_after(drafted(1, 1, 2.0), plain(1, 3.0)).plain_seconds(1) == 3.0


def test_plain_steps_are_known_once_several_of_as_many_contexts_were_measured() -> None:
    cost = cost_after(plain(1, 1.0), plain(1, 1.0), plain(2, 1.0))
    assert not cost.knows_plain(1)
    cost.observe(plain(1, 1.0))
    assert (cost.knows_plain(1), cost.knows_plain(2)) == (True, False)


def test_a_window_costs_what_the_step_after_it_takes_more() -> None:
    cost = cost_after(plain(1, 1.0), *[drafted(1, 1, 1.25), plain(1, 1.5)] * 3)
    assert cost.steps(1) == pytest.approx(0.75)
    assert cost.plain_seconds(1) == 1.0
