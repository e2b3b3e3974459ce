"""Which texts are computed together: those of about one length, so that little of a batch is padding."""

import bisect
from collections.abc import Sequence
from dataclasses import dataclass

PADDED_SHARE = 0.25
"""The largest part of a batch that may be padding."""
FIRST_TOKENS = 512


def neighbours(lengths: Sequence[int], first: int, most_tokens: int) -> tuple[int, int]:
    """The run of ascending `lengths` around the index `first` that makes a batch: [begin, end).

    Padded to the longest it has at most `most_tokens`, of which PADDED_SHARE is padding. A text that is longer than
    that is alone.
    """
    begin, end, tokens = first, first + 1, lengths[first]
    while True:
        shorter = lengths[begin - 1] if begin else None
        longer = lengths[end] if end < len(lengths) else None
        takes_longer = longer is not None and (shorter is None or longer - lengths[first] <= lengths[first] - shorter)
        one = longer if takes_longer else shorter
        if one is None or not _fits(end - begin + 1, max(lengths[end - 1], one), tokens + one, most_tokens):
            return begin, end
        tokens += one
        begin, end = (begin, end + 1) if takes_longer else (begin - 1, end)


def _fits(count: int, longest: int, tokens: int, most_tokens: int) -> bool:
    padded = count * longest
    return padded <= most_tokens and tokens >= (1 - PADDED_SHARE) * padded


@dataclass(slots=True)
class PieceSize:
    """How many tokens a piece of work may have so that it takes about `seconds`, and never more than `most`."""

    seconds: float
    most: int
    tokens: int = FIRST_TOKENS

    def note(self, tokens: int, seconds: float) -> None:
        """A piece took so long. It grows slowly: the first one of a length may be fast by chance."""
        fitting = self.most if seconds <= 0 else int(tokens * self.seconds / seconds)
        self.tokens = min(self.most, max(FIRST_TOKENS // 4, min(fitting, 2 * self.tokens)))


class ByLength:
    """What waits, ascending by length; those of a length in the order of their numbers."""

    def __init__(self) -> None:
        self._keys: list[tuple[int, int]] = []
        self.lengths: list[int] = []
        self.numbers: list[int] = []

    def add(self, length: int, number: int) -> None:
        place = bisect.bisect(self._keys, (length, number))
        self._keys.insert(place, (length, number))
        self.lengths.insert(place, length)
        self.numbers.insert(place, number)

    def place(self, length: int, number: int) -> int:
        """Where one is that was added."""
        return bisect.bisect_left(self._keys, (length, number))

    def remove(self, begin: int, end: int) -> list[int]:
        """Take [begin, end) out. Returns their numbers."""
        taken = self.numbers[begin:end]
        for each in (self._keys, self.lengths, self.numbers):
            del each[begin:end]
        return taken
