"""Rests between looks for something to repeat."""

PATIENCE = 4
"""Looks that may come to nothing before the first rest."""

LONGEST_REST = 16
"""Steps without a look; as many tokens of a repetition may be written before it is noticed."""


class Cooldown:
    """Looking takes time at every step of every stream: where it comes to nothing, rests of 1, 2, 4 ... steps (V8)."""

    def __init__(self, like: "Cooldown | None" = None) -> None:
        """It begins with a rest where `like` had its last look come to nothing. `left` counts the steps of a rest that
        are to come."""
        self._fruitless = self.left = 0
        if like is not None:
            self._fruitless = like._fruitless
            self._rest()

    def step(self) -> bool:
        """A step begins; whether it is one of a rest."""
        if not self.left:
            return False
        self.left -= 1
        return True

    def begin(self, steps: int) -> None:
        """Rest for so many steps, or for as long as was meant already."""
        self.left = max(self.left, steps)

    def skip(self, steps: int) -> None:
        """So many steps of a rest were taken at once."""
        self.left = max(0, self.left - steps)

    def learn(self, *, accepted: bool) -> None:
        """A look is over; whether any of what it found was right."""
        self._fruitless = 0 if accepted else self._fruitless + 1
        self._rest()

    def _rest(self) -> None:
        if self._fruitless >= PATIENCE:
            self.left = min(LONGEST_REST, 1 << min(self._fruitless - PATIENCE, LONGEST_REST))
