"""How many tokens to draft, learned from what drafts saved."""

FIRST_LENGTH, SHORTEST, LONGEST = 4, 2, 16
"""Drafts at the start, and the bounds of their number (V8)."""

LOST_SHARE = 0.025
"""Plain steps that trying may lose of each step of a stream."""

BEGIN_STEPS = 0.7
"""What a pass takes more than a step that follows at once, in steps; all of a batch wait for it. Measured on a CPU,
under a grammar, whose masks are computed meanwhile otherwise. Where it takes less, too few guesses are made."""

MOST_CREDIT = 2.0
"""Plain steps that trying may lose at once, after any success."""

MOST_SAVED = 12.0
"""Plain steps that guesses may lose at once where they should pay: what they saved before, and at first for nothing."""


class Pace:
    """Longer drafts while they are accepted, shorter ones while they are not, and whether they pay."""

    def __init__(self, first_length: int = FIRST_LENGTH) -> None:
        self.length = first_length
        """Drafts to make next."""
        self.saved = 0.0
        """Steps that drafts save lately, less what guessing takes."""

    def pays(self, cost: float) -> bool:
        """Whether drafts save more steps lately than verifying them takes.

        The latest count half, so that drafts which begin to fail stop before they have lost what they saved.
        """
        return self.saved > cost

    def learn(self, drafted: int, accepted: int, spent: float = 0.0) -> None:
        """A step has verified `drafted` drafts, the first `accepted` were right; guessing took `spent` steps."""
        if not drafted:
            return
        if accepted == drafted:
            self.length = min(LONGEST, 2 * self.length)
        elif 2 * accepted < drafted:
            self.length = max(SHORTEST, self.length // 2)
        self.saved = (self.saved + accepted - spent) / 2


class Allowance:
    """What trying may lose for all streams of an engine together.

    Whether drafts pay shows only once some were tried. New streams would all pay for the same experience, and each
    holds up the others; so once guesses have lost more than a small share of the steps of all, those that are not
    known to pay wait until that is made up for. Then all try again at the same time, which is cheapest.
    """

    def __init__(self) -> None:
        self._credit, self._balance = 0.0, MOST_SAVED

    @property
    def overdrawn(self) -> bool:
        """Whether guesses have lost more than they saved and may lose, whatever they promise: they end."""
        return self._balance < 0

    def step(self) -> bool:
        """A stream takes a step; whether it may try."""
        self._earn(LOST_SHARE)
        return self.may_try

    def went_on(self, steps: int) -> None:
        """A stream took so many steps at once."""
        self._earn(LOST_SHARE * steps)

    @property
    def may_try(self) -> bool:
        """Whether trying has lost no more than it may."""
        return self._credit >= 0

    def learn(self, saved: float, cost: float) -> None:
        """Guesses have saved some steps, and took `cost` of them."""
        self._earn(saved - cost)

    def _earn(self, steps: float) -> None:
        self._credit = min(MOST_CREDIT, self._credit + steps)
        self._balance = min(MOST_SAVED, self._balance + steps)


class LookAllowance(Allowance):
    """What may be lost by all streams together on looking again after one step, where steps could follow at once.

    The batch ends for all its contexts; so they all look then, for the price of one.
    """

    def __init__(self) -> None:
        super().__init__()
        self._tick = -1

    def look(self, tick: int, price: float, *, pays: bool) -> bool:
        """Whether a stream looks again after the batch `tick`, which takes `price` plain steps; what it finds `pays`
        lately."""
        if tick == self._tick:
            return True
        if self.overdrawn or not (pays or self.may_try):
            return False
        self._tick = tick
        self.learn(0, price)
        return True
