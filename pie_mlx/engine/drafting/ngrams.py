"""What followed the last tokens when they came before."""

from collections.abc import Iterable

SIZES = (4, 3, 2)
"""Lengths of the suffixes looked for, the longest first (V8)."""


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
            first = max(start, size)
            columns = [known[first - size + place : len(known) - size + place] for place in range(size)]
            self._followers.update(zip(zip(*columns, strict=False), range(first, len(known)), strict=False))

    def follow(self, count: int, *, shortest: int = SIZES[-1]) -> list[int]:
        """`count` tokens that followed the longest suffix the last time it occurred; [] if none of at least `shortest`
        tokens ever did.

        A match that overlaps the suffix is a period: it goes on repeating.
        """
        known = self._tokens
        for size in SIZES:
            if size < shortest:
                break
            place = self._followers.get(tuple(known[-size:])) if len(known) > size else None
            if place is not None:
                found = known[place : place + count]
                while len(found) < count:
                    found += found[: count - len(found)]
                return found
        return []
