"""How long nothing is looked for."""

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.speculation.drafting.cooldown import LONGEST_REST, PATIENCE, Cooldown


def rest(cooldown: Cooldown) -> int:
    """Steps until the next look."""
    steps = 0
    while cooldown.step():
        steps += 1
    return steps


def test_rests_begin_after_a_few_fruitless_looks_and_double() -> None:  # V8
    cooldown, rests = Cooldown(), []
    for _ in range(PATIENCE + 6):
        rests.append(rest(cooldown))
        cooldown.learn(accepted=False)
    assert rests == [0] * PATIENCE + [1, 2, 4, 8, 16, 16]


@given(st.integers(0, 40))
def test_one_success_ends_all_rests(fruitless: int) -> None:  # V8
    cooldown = Cooldown()
    for _ in range(fruitless):
        cooldown.learn(accepted=False)
    assert rest(cooldown) <= LONGEST_REST
    cooldown.learn(accepted=True)
    assert rest(cooldown) == 0


def test_a_new_text_rests_as_long_as_one_in_which_looks_came_to_nothing() -> None:
    before = Cooldown()
    assert rest(Cooldown(before)) == 0
    for _ in range(PATIENCE + 2):
        before.learn(accepted=False)
    assert rest(Cooldown(before)) == 4


def test_a_rest_may_be_begun_and_its_steps_taken_at_once() -> None:
    cooldown = Cooldown()
    cooldown.begin(6)
    assert cooldown.step()
    cooldown.skip(3)
    cooldown.begin(1)
    assert rest(cooldown) == 2
    cooldown.skip(5)
    assert rest(cooldown) == 0
