"""How many threads compute the products of long steps: as many as is faster here and now."""

ALL, ONE = 0, 1
FIRST_TRIAL_STEPS, TRIAL_EVERY_STEPS, MOST_STEPS = 2, 32, 512
"""Steps before the other number of threads is tried for the first time; then, times as often as it took longer; and at
most."""
CLEARLY = 1.25
"""How many times as long all threads must take until one is better: quiet machines keep all, as their neighbours do."""
ROWS_OF_A_STEP = 24
"""Rows that take as long as what a step takes for any number of them, as reading its matrices: with these a row of one,
of 64 and of 512 took as long within a fifth, for matrices of half a million to four million entries."""


class ProductThreads:
    """Chooses by the time that a row takes lately.

    Threads of one product wait for each other in a loop. Where other programs keep the processors busy, the system puts
    two of them on one processor, and each waits until the other's slice of time is over: beside two niced processes on
    two processors a prompt took ten times as long as with one thread, alone 13 % less.
    """

    def __init__(self) -> None:
        self._row_seconds: dict[int, float] = {}
        self._until_trial = FIRST_TRIAL_STEPS

    @property
    def better(self) -> int:
        """ALL, or ONE where that is clearly faster."""
        measured = self._row_seconds
        return ONE if len(measured) == 2 and CLEARLY * measured[ONE] < measured[ALL] else ALL

    def take(self) -> int:
        """For a step that will be observed: the better one, or the other to try it."""
        self._until_trial -= 1
        return self.better if self._until_trial >= 0 else self._other

    def observe(self, threads: int, rows: int, seconds: float) -> None:
        """A step of `rows` rows took `seconds` with ALL or ONE."""
        each = seconds / (rows + ROWS_OF_A_STEP)
        self._row_seconds[threads] = (self._row_seconds.get(threads, each) + each) / 2
        if self._until_trial < 0:
            self._until_trial = min(MOST_STEPS, round(TRIAL_EVERY_STEPS * max(1.0, self._longer)))

    @property
    def _longer(self) -> float:
        """How many times as long the other number takes; 1 while one is not known: steps that fail are not observed."""
        measured = self._row_seconds
        return measured[self._other] / measured[self.better] if len(measured) == 2 else 1.0

    @property
    def _other(self) -> int:
        return ALL if self.better == ONE else ONE
