"""How many threads compute the products of long steps: as many as is faster here and now."""

from collections import deque

ALL, ONE = 0, 1
FIRST_TRIAL_STEPS, TRIAL_EVERY_STEPS, MOST_STEPS = 2, 32, 512
"""Steps before the other number of threads is tried for the first time; then, times as often as it took longer; and at
most."""
CLEARLY = 1.25
"""How many times as long all threads must take until one is better: quiet machines keep all, as their neighbours do."""
REMEMBERED = 4
"""Steps that count as the latest. The fastest of them tells: a first one, or one that was disturbed, does not."""


class ProductThreads:
    """Chooses by the time that steps of about as many rows take lately.

    Threads of one product wait for each other in a loop. Where other programs keep the processors busy, the system puts
    two of them on one processor, and each waits until the other's slice of time is over: beside two niced processes on
    two processors a prompt took ten times as long as with one thread, alone 13 % less.
    """

    def __init__(self) -> None:
        self._sizes: dict[int, _Size] = {}

    def better(self, rows: int) -> int:
        """ALL, or ONE where that is clearly faster."""
        return self._size(rows).better

    def take(self, rows: int) -> int:
        """For a step that will be observed: the better one, or the other to try it."""
        return self._size(rows).take()

    def observe(self, threads: int, rows: int, seconds: float) -> None:
        """A step of `rows` rows took `seconds` with ALL or ONE."""
        self._size(rows).observe(threads, seconds / rows)

    def _size(self, rows: int) -> "_Size":
        return self._sizes.setdefault(rows.bit_length(), _Size())


class _Size:
    """Steps of one size, to a factor of two."""

    def __init__(self) -> None:
        self._latest = {threads: deque[float](maxlen=REMEMBERED) for threads in (ALL, ONE)}
        self._until_trial = FIRST_TRIAL_STEPS

    @property
    def better(self) -> int:
        return ONE if self._times_longer(ALL, ONE) > CLEARLY else ALL

    def take(self) -> int:
        self._until_trial -= 1
        return self.better if self._until_trial >= 0 else self._other

    def observe(self, threads: int, row_seconds: float) -> None:
        self._latest[threads].append(row_seconds)
        if self._until_trial < 0:
            longer = max(1.0, self._times_longer(self._other, self.better))
            self._until_trial = min(MOST_STEPS, round(TRIAL_EVERY_STEPS * longer))

    @property
    def _other(self) -> int:
        return ALL if self.better == ONE else ONE

    def _times_longer(self, threads: int, than: int) -> float:
        """1 while one of them is not known: a step that fails is not observed."""
        measured = self._latest[threads], self._latest[than]
        return min(measured[0]) / min(measured[1]) if all(measured) else 1.0
