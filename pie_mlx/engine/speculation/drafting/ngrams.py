"""What followed the last tokens when they came before."""

from collections.abc import Iterable
from typing import NamedTuple

SIZES = (4, 3, 2)
"""Lengths of the suffixes looked for, the longest first (V8)."""


class Match(NamedTuple):
    """The last `size` tokens have occurred before; what followed them begins at `place`."""

    size: int
    place: int


class NgramIndex:
    """A sequence of tokens that knows, for each of its runs of 4, 3 and 2 tokens, what followed most recently.

    Adding a token takes constant time; nothing is ever searched.
    """

    def __init__(self, tokens: Iterable[int] = ()) -> None:
        self._tokens: list[int] = []
        self._followers: dict[tuple[int, ...], int] = {}
        self.extend(tokens)

    def __len__(self) -> int:
        return len(self._tokens)

    def tail(self, start: int) -> list[int]:
        """The tokens from `start` on."""
        return self._tokens[start:]

    def extend(self, tokens: Iterable[int]) -> None:
        """Add tokens at the end."""
        known, start = self._tokens, len(self._tokens)
        known.extend(tokens)
        for size in SIZES:
            if len(known) == start + 1 > size:  # a step adds one token
                self._followers[tuple(known[-size - 1 : -1])] = start
                continue
            first = max(start, size)
            columns = [known[first - size + place : len(known) - size + place] for place in range(size)]
            self._followers.update(zip(zip(*columns, strict=False), range(first, len(known)), strict=False))

    def longest_match(self) -> Match | None:
        """The longest suffix that has occurred before, where it did so last."""
        known = self._tokens
        for size in SIZES:
            place = self._followers.get(tuple(known[-size:])) if len(known) > size else None
            if place is not None:
                return Match(size, place)
        return None

    def following(self, match: Match, count: int) -> list[int]:
        """`count` tokens that followed `match`. One that overlaps the suffix is a period: it goes on repeating."""
        found = self._tokens[match.place : match.place + count]
        while len(found) < count:
            found += found[: count - len(found)]
        return found
