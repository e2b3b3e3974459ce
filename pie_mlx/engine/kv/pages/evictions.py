"""Which pages were evicted lately, when, and for whom."""

import time
from collections.abc import Callable
from typing import NamedTuple

from pie_mlx.engine.kv.pages.record import Owner

MOST_KEYS = 32_768
"""At some 140 bytes each they take 4.5 MB."""


class Eviction(NamedTuple):
    """When pages were evicted, in Unix seconds, and for whom."""

    seconds: float
    beneficiary: Owner


class Evictions:
    """The evictions of the latest pages, at least of `most` // 2, by the keys of the pages.

    Two generations take turns: a dict that loses its oldest key at each insertion would slow down.
    """

    def __init__(self, most: int = MOST_KEYS, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._limit = most // 2
        self._newer: dict[bytes, Eviction] = {}
        self._older: dict[bytes, Eviction] = {}

    def __len__(self) -> int:
        return len(self._newer) + len(self._older)

    def now(self, beneficiary: Owner) -> Eviction:
        """An eviction of this moment."""
        return Eviction(self._clock(), beneficiary)

    def add(self, key: bytes, eviction: Eviction) -> None:
        """A page was evicted."""
        if len(self._newer) >= self._limit:
            self._newer, self._older = {}, self._newer
        self._newer[key] = eviction

    def find(self, key: bytes) -> Eviction | None:
        """The latest eviction of a page; None if it was long ago, or never."""
        return self._newer.get(key) or self._older.get(key)
