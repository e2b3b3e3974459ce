"""The engine's own drafter: one for each context that asks for it."""

from collections.abc import Callable, Sequence

from pie_mlx.engine.speculation.drafting.cooldown import Cooldown
from pie_mlx.engine.speculation.drafting.ngrams import SIZES, NgramIndex
from pie_mlx.engine.speculation.drafting.pace import Pace

MOST_INDEXED = 16384
"""Tokens of a context that are indexed when drafting begins; those before have no say."""

SEEN_AGAIN = 16
"""Known tokens that must stand before missed ones, or the context has gone another way meanwhile."""


class NgramDrafter:
    """Drafts what followed the last tokens when they occurred before, in the prompt or in what was generated (V8).

    It follows its context: where that has gone another way, it begins anew. A few tokens occur again by chance in any
    text; so matches of each length have to pay for themselves, and shorter ones are tried only while longer ones pay.
    `cooldown` tells which steps it may be left out of.
    """

    def __init__(self) -> None:
        self._index = NgramIndex()
        self._start = 0
        self._paces = {size: Pace() for size in SIZES}
        self._matched = SIZES[0]
        self.cooldown = Cooldown()

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
        `shortest` tokens must have occurred before. Verifying takes `cost` plain steps; `may_try` drafts that
        may not pay.
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
        self.cooldown.learn(accepted=accepted > 0)

    @property
    def saved(self) -> float:
        """Steps that drafts of the latest match's length save lately."""
        return self._paces[self._matched].saved

    def _is_worth_it(self, size: int, cost: float, *, may_try: bool) -> bool:
        if self._paces[size].pays(cost):
            return True
        return may_try and (size == SIZES[0] or self._paces[size + 1].pays(cost))

    def _follow(self, held: int, inputs: Sequence[int], read: Callable[[int], Sequence[int]]) -> None:
        """Know all of `held` and `inputs`: what is known beyond `held` must begin the inputs."""
        self._catch_up(held, read)
        ahead = self._index.tail(held - self._start)
        if list(inputs[: len(ahead)]) != ahead:
            self._begin(held, read)
            ahead = []
        self._index.extend(inputs[len(ahead) :])

    def _catch_up(self, held: int, read: Callable[[int], Sequence[int]]) -> None:
        """Know at least what is held: the index was not told of the steps of a rest."""
        known = len(self._index)
        missed = held - self._start - known
        if not known or held < self._start:
            self._begin(held, read)
        elif missed > 0:
            seen = min(known, SEEN_AGAIN)
            recent = read(missed + seen)
            if list(recent[:seen]) == self._index.tail(known - seen):
                self._index.extend(recent[seen:])
            else:
                self._begin(held, read)

    def _begin(self, held: int, read: Callable[[int], Sequence[int]]) -> None:
        count = min(held, MOST_INDEXED)
        self._index, self._start = NgramIndex(read(count)), held - count
