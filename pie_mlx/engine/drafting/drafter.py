"""The engine's own drafter: one for each context that asks for it."""

from collections.abc import Callable, Sequence

from pie_mlx.engine.drafting.ngrams import NgramIndex
from pie_mlx.engine.drafting.pace import Pace

MOST_INDEXED = 16384
"""Tokens of a context that are indexed when drafting begins; those before have no say."""

SHORTEST_MATCH, WARY_SHORTEST = 2, 3
"""Tokens that must have occurred before: two do so by chance in any text, so they are not enough after failures."""


class NgramDrafter:
    """Drafts what followed the last tokens when they occurred before, in the prompt or in what was generated (V8).

    It is told of every step, and follows its context: where that has gone another way, it begins anew.
    """

    def __init__(self) -> None:
        self._index = NgramIndex()
        self._start = 0
        self._pace = Pace()

    def draft(self, held: int, inputs: Sequence[int], most: int, read: Callable[[int], Sequence[int]]) -> list[int]:
        """At most `most` guesses at what follows `inputs`, which come after `held` tokens in KV.

        `read(count)` answers the last `count` of these; it is asked only when they are not known from before.
        """
        self._follow(held, inputs, read)
        length = min(self._pace.next_length(), most)
        if length < 1:
            return []
        return self._index.follow(length, shortest=WARY_SHORTEST if self._pace.is_wary else SHORTEST_MATCH)

    def learn(self, emitted: Sequence[int], drafted: int, accepted: int, cost: float) -> None:
        """A step emitted tokens; `drafted` guesses were run for it and the first `accepted` were right. It took `cost`
        plain steps more than a plain one."""
        self._pace.learn(drafted, accepted, cost)
        self._index.extend(emitted)

    def _follow(self, held: int, inputs: Sequence[int], read: Callable[[int], Sequence[int]]) -> None:
        known = self._start + len(self._index)
        ahead = self._index.tail(held - self._start) if self._start <= held <= known else None
        if ahead is None or not known or list(inputs[: len(ahead)]) != ahead:
            count = min(held, MOST_INDEXED)
            self._index, self._start = NgramIndex(read(count)), held - count
            ahead = []
        self._index.extend(inputs[len(ahead) :])
