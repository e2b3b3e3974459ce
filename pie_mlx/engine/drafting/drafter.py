"""The engine's own drafter: one for each context that asks for it."""

from collections.abc import Callable, Sequence

from pie_mlx.engine.drafting.ngrams import SIZES, NgramIndex
from pie_mlx.engine.drafting.pace import Pace

MOST_INDEXED = 16384
"""Tokens of a context that are indexed when drafting begins; those before have no say."""


class NgramDrafter:
    """Drafts what followed the last tokens when they occurred before, in the prompt or in what was generated (V8).

    It is told of every step, and follows its context: where that has gone another way, it begins anew. A few tokens
    occur again by chance in any text; so matches of each length have to pay for themselves, and shorter ones are tried
    only while longer ones pay.
    """

    def __init__(self) -> None:
        self._index = NgramIndex()
        self._start = 0
        self._paces = {size: Pace() for size in SIZES}
        self._matched = SIZES[0]

    def draft(
        self,
        held: int,
        inputs: Sequence[int],
        most: int,
        read: Callable[[int], Sequence[int]],
        *,
        cost: float,
        may_try: bool,
        shortest: int = SIZES[-1],
    ) -> list[int]:
        """At most `most` guesses at what follows `inputs`, which come after `held` tokens in KV.

        `read(count)` answers the last `count` of these; it is asked only when they are not known from before. At least
        `shortest` tokens must have occurred before. Verifying takes `cost` plain steps; `may_try` drafts of which
        nobody knows whether they pay.
        """
        self._follow(held, inputs, read)
        match = self._index.longest_match()
        if match is None or match.size < shortest or not self._is_worth_it(match.size, cost, may_try=may_try):
            return []
        self._matched = match.size
        return self._index.following(match, min(self._paces[match.size].length, most))

    def learn(self, emitted: Sequence[int], drafted: int, accepted: int) -> None:
        """A step emitted tokens; `drafted` guesses were run for it and the first `accepted` were right."""
        self._paces[self._matched].learn(drafted, accepted)
        self._index.extend(emitted)

    def _is_worth_it(self, size: int, cost: float, *, may_try: bool) -> bool:
        if self._paces[size].pays(cost):
            return True
        return may_try and (size == SIZES[0] or self._paces[size + 1].pays(cost))

    def _follow(self, held: int, inputs: Sequence[int], read: Callable[[int], Sequence[int]]) -> None:
        known = self._start + len(self._index)
        ahead = self._index.tail(held - self._start) if self._start <= held <= known else None
        if ahead is None or not known or list(inputs[: len(ahead)]) != ahead:
            count = min(held, MOST_INDEXED)
            self._index, self._start = NgramIndex(read(count)), held - count
            ahead = []
        self._index.extend(inputs[len(ahead) :])
