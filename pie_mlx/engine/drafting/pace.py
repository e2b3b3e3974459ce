"""How many tokens to draft, learned from how many were right."""

FIRST_LENGTH, SHORTEST, LONGEST = 4, 2, 16
"""Drafts at the start, and the bounds of their number (V8)."""

CREDIT, RETURN_CREDIT, MOST_CREDIT = 1.0, 0.3, 3.0
"""Steps that drafts may lose at the start, after a pause, and after any success."""

SHORTEST_PAUSE, LONGEST_PAUSE = 8, 64
"""Plain steps before drafting is tried again."""

LOST_SHARE = 0.04
"""A pause is so long that what drafts have lost beyond the credit is no larger share of it."""


class Pace:
    """Longer drafts while they are accepted, shorter ones while they are not, none for a while when they do not pay.

    Every draft is paid for with the steps it saved. Pauses double, so that text which never repeats itself loses a
    small and bounded number of steps.
    """

    def __init__(self) -> None:
        self._length = FIRST_LENGTH
        self._credit = CREDIT
        self._pause = SHORTEST_PAUSE
        self._resting = 0
        self.is_wary = False
        """Whether the last drafts did not pay, so that only likely ones are worth a try."""

    def next_length(self) -> int:
        """Drafts to make for the next step, 0 while pausing; call it once per step."""
        if self._resting:
            self._resting -= 1
            return 0
        return self._length

    def learn(self, drafted: int, accepted: int, cost: float) -> None:
        """A step has verified `drafted` drafts, of which the first `accepted` were right; it took `cost` plain steps
        more than a plain one."""
        if not drafted:
            return
        if accepted == drafted:
            self._length = min(LONGEST, 2 * self._length)
        elif 2 * accepted < drafted:
            self._length = max(SHORTEST, self._length // 2)
        self._credit = min(MOST_CREDIT, self._credit + accepted - cost)
        if self._credit < 0:
            self._resting = max(self._pause, round(-self._credit / LOST_SHARE))
            self._pause = min(LONGEST_PAUSE, 2 * self._pause)
            self._credit, self.is_wary = RETURN_CREDIT, True
        elif self._credit == MOST_CREDIT:
            self._pause, self.is_wary = SHORTEST_PAUSE, False
