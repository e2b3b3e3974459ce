"""What guesses of a draft head lose and save in the long run, with simulated times."""

import random
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.speculation.drafting import MOST_GUESSES, Allowance, GuessRates, HeadPace


@dataclass
class Texts:
    """Short texts one after the other. `rates` of the guesses are right; so many guesses take `first` plain steps, and
    `more` for each one after the first."""

    rates: list[float]
    first: float
    more: float
    length: int = 27
    allowance: Allowance = field(default_factory=Allowance)
    usual: GuessRates = field(default_factory=GuessRates)
    chance: random.Random = field(default_factory=lambda: random.Random(5))
    steps: float = 0.0
    tokens: int = 0
    passes: int = 0

    def write(self, texts: int) -> "Texts":
        for _ in range(texts):
            pace, left = HeadPace(self.usual), self.length
            while left > 0:
                written = 1 if pace.cooldown.step() else 1 + self.guess(pace)
                self.steps, self.passes, self.tokens = self.steps + 1, self.passes + 1, self.tokens + written
                left -= written
        return self

    def guess(self, pace: HeadPace) -> int:
        """How many guesses of a step are right."""
        may_try, best = self.allowance.step(), pace.best(self.price, MOST_GUESSES)
        pays = best.gain > 0 and not self.allowance.overdrawn
        pace.looked(pays=pays)
        drafted = best.guesses if pays else 2 if may_try else 0
        right = 0
        while right < drafted and self.chance.random() < self.rates[right]:
            right += 1
        if drafted:
            self.steps += self.price(drafted)
            pace.learn(drafted, right)
            self.allowance.learn(right, self.price(drafted))
        return right

    def price(self, guesses: int) -> float:
        return self.first + self.more * (guesses - 1)

    @property
    def time(self) -> float:
        """Of a token, in plain steps."""
        return self.steps / self.tokens


@given(st.floats(0, 0.95), st.floats(0.05, 2), st.floats(0.01, 0.6), st.integers(8, 200))
def test_guesses_never_cost_more_than_three_hundredths(rate: float, first: float, more: float, length: int) -> None:
    assert Texts([rate] * MOST_GUESSES, first, more, length).write(2400 // length).time < 1.03


@pytest.mark.parametrize("length", [27, 200])
def test_cheap_guesses_of_a_fair_head_save_a_quarter_of_the_time(length: int) -> None:
    texts = Texts([0.46, 0.56, 0.74, 0.64, 0.6, 0.6], 0.1, 0.07, length).write(2400 // length)
    assert texts.time < 0.75
    assert texts.tokens / texts.passes > 1.8


def test_a_new_text_begins_with_what_is_known_of_others() -> None:
    usual = GuessRates()
    for _ in range(40):
        HeadPace(usual).learn(3, 0)
    assert HeadPace(usual).best(lambda count: 0.2 * count, 6).gain < 0


def test_guesses_that_lost_what_they_had_saved_are_overdrawn_until_that_is_made_up_for() -> None:
    allowance = Allowance()
    allowance.learn(0, 13)
    assert allowance.overdrawn
    allowance.learn(2, 0)
    assert not allowance.overdrawn
