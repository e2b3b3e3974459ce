"""How many guesses of a draft head are worth their price."""

from pie_mlx.engine.speculation.drafting import HeadPace


def taught(*steps: tuple[int, int]) -> HeadPace:
    """After steps of so many guesses, of which the first were right."""
    pace = HeadPace()
    for drafted, accepted in steps:
        pace.learn(drafted, accepted)
    return pace


def test_guesses_that_are_always_right_are_made_as_many_as_may_be() -> None:
    best = taught(*[(6, 6)] * 30).best(lambda count: 0.1 * count, 6)
    assert best.guesses == 6
    assert best.gain > 5 - 0.6


def test_fewer_guesses_are_made_where_each_further_one_costs_much() -> None:
    pace = taught(*[(6, 6)] * 4, *[(6, 2)] * 20)
    assert pace.best(lambda count: 0.05 * count, 6).guesses > 1
    assert pace.best(lambda count: 0.2 + 0.55 * count, 6).guesses < 3


def test_wrong_guesses_gain_nothing() -> None:
    assert taught(*[(2, 0)] * 12).best(lambda count: 0.3 * count, 6).gain < 0


def test_no_more_are_made_than_asked_for() -> None:
    assert HeadPace().best(lambda count: 0.0, 2).guesses == 2
    assert HeadPace().best(lambda count: 0.0, 0).guesses == 0
