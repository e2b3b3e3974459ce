"""How many guesses of a draft head are worth their price, learned from how often each was right."""

from collections.abc import Callable
from typing import NamedTuple

from pie_mlx.engine.speculation.drafting.cooldown import Cooldown

MOST_GUESSES = 6
"""Guesses that may follow one another: each is made of the one before it."""

HOPED_RATE = 0.65
"""How often a guess is taken to be right before any was made."""

LEAST_WEIGHT, LEAST_WEIGHT_OF_ALL = 1 / 24, 1 / 96
"""Of the latest guess among all of its place, those of one context or of all; the first ones weigh more."""

MOST_LENT = 6
"""Tries that a context takes over from those of all: soon its own count more."""


class Length(NamedTuple):
    """So many guesses are worth most: they save `saved` plain steps and cost `cost` of them."""

    guesses: int
    saved: float
    cost: float

    @property
    def gain(self) -> float:
        """What they save beyond their price."""
        return self.saved - self.cost


class GuessRates:
    """How often guesses were right, each given that those before it were. `cooldown` tells when guessing rests."""

    def __init__(self, least_weight: float = LEAST_WEIGHT_OF_ALL, begun: "GuessRates | None" = None) -> None:
        """It begins with those of others, `begun`."""
        self._least_weight = least_weight
        self.cooldown = Cooldown(None if begun is None else begun.cooldown)
        self._rates: list[float] = [HOPED_RATE] * MOST_GUESSES if begun is None else [*begun._rates]
        self._tries = [0 if begun is None else min(begun._tries[place], MOST_LENT) for place in range(MOST_GUESSES)]

    def __getitem__(self, place: int) -> float:
        return self._rates[place]

    def learn(self, drafted: int, accepted: int) -> None:
        """Of `drafted` guesses the first `accepted` were right."""
        for place in range(min(drafted, accepted + 1, MOST_GUESSES)):
            self._tries[place] += 1
            weight = max(self._least_weight, 1 / (self._tries[place] + 2))
            self._rates[place] += weight * ((place < accepted) - self._rates[place])


class HeadPace:
    """What guesses of one context are worth, and when guessing rests.

    It begins with what those of `others` were, which learn from it: most texts are over before their own guesses tell.
    """

    def __init__(self, others: GuessRates | None = None) -> None:
        self._others = GuessRates() if others is None else others
        self._rates = GuessRates(LEAST_WEIGHT, self._others)

    @property
    def cooldown(self) -> Cooldown:
        """When guessing rests: steps are written without asking whether guesses pay."""
        return self._rates.cooldown

    def looked(self, *, pays: bool) -> None:
        """Whether guesses pay was looked up."""
        self._rates.cooldown.learn(accepted=pays)
        self._others.cooldown.learn(accepted=pays)

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
        self._rates.learn(drafted, accepted)
        self._others.learn(drafted, accepted)
