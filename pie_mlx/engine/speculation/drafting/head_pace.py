"""How many guesses of a draft head are worth their price, learned from how often each was right."""

from collections.abc import Callable
from typing import NamedTuple

from pie_mlx.engine.speculation.drafting.cooldown import Cooldown

MOST_GUESSES = 6
"""Guesses that may follow one another: each is made of the one before it."""

HOPED_RATE = 0.65
"""How often a guess is taken to be right before any was made."""

LEAST_WEIGHT = 1 / 24
"""Of the latest guess among all of its place; the first ones weigh more."""


class Length(NamedTuple):
    """So many guesses are worth most: they save `saved` plain steps and cost `cost` of them."""

    guesses: int
    saved: float
    cost: float

    @property
    def gain(self) -> float:
        """What they save beyond their price."""
        return self.saved - self.cost


class HeadPace:
    """How often the guesses of one context were right, each given that those before it were. `cooldown` tells when
    guessing rests."""

    def __init__(self) -> None:
        self._rates = [HOPED_RATE] * MOST_GUESSES
        self._tries = [0] * MOST_GUESSES
        self.cooldown = Cooldown()

    def best(self, price: Callable[[int], float], most: int) -> Length:
        """The number of guesses, 1 to `most`, with the most tokens for their time; so many take `price` plain steps."""
        best, saved, likely = Length(0, 0.0, 0.0), 0.0, 1.0
        for count in range(1, min(most, MOST_GUESSES) + 1):
            likely *= self._rates[count - 1]
            saved += likely
            here = Length(count, saved, price(count))
            if not best.guesses or (1 + here.saved) * (1 + best.cost) > (1 + best.saved) * (1 + here.cost):
                best = here
        return best

    def learn(self, drafted: int, accepted: int, spent: float = 0.0) -> None:
        """A step has verified `drafted` guesses, the first `accepted` were right."""
        del spent
        for place in range(min(drafted, accepted + 1, MOST_GUESSES)):
            self._tries[place] += 1
            weight = max(LEAST_WEIGHT, 1 / (self._tries[place] + 2))
            self._rates[place] += weight * ((place < accepted) - self._rates[place])
