"""Rests between looks for something to repeat."""

PATIENCE = 4
"""Looks that may come to nothing before the first rest."""

LONGEST_REST = 16
"""Steps without a look; as many tokens of a repetition may be written before it is noticed."""


class Cooldown:
    """Looking takes time at every step of every stream: where it comes to nothing, rests of 1, 2, 4 ... steps (V8)."""

    def __init__(self, like: "Cooldown | None" = None) -> None:
        """It begins with a rest where `like` had its last look come to nothing."""
        self._fruitless = self._left = 0
        if like is not None:
            self._fruitless = like._fruitless
            self._rest()

    def step(self) -> bool:
        """A step begins; whether it is one of a rest."""
        if not self._left:
            return False
        self._left -= 1
        return True

    def learn(self, *, accepted: bool) -> None:
        """A look is over; whether any of what it found was right."""
        self._fruitless = 0 if accepted else self._fruitless + 1
        self._rest()

    def _rest(self) -> None:
        if self._fruitless >= PATIENCE:
            self._left = min(LONGEST_REST, 2 ** (self._fruitless - PATIENCE))
