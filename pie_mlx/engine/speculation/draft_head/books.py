"""What the head has read of each context: pairs of a hidden state and the token after it, and the pages of these."""

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import NamedTuple

import mlx.core as mx

from pie_mlx.engine.speculation.draft_model import DraftSequences

COMPARED = 8
"""Pairs at the end that are compared with the context; where they are the same, so is the rest."""

MOST_LEFT = 16
"""Contexts that are gone whose pages may serve others: those that went last."""

Read = Callable[[int], Sequence[int]]
"""Answers the last tokens of a context that are in KV."""


class Rows(NamedTuple):
    """Rows `start` .. `stop` of hidden states [rows, width], which only the MLX thread may divide."""

    array: mx.array
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Pairs:
    """Tokens of a context, each with the place of the one before it, and that one's hidden states, in order."""

    places: list[int]
    tokens: list[int]
    hidden: list[Rows]


@dataclass(slots=True)
class HeadBooks:
    """Which places of each context the head has read. A place may be lacking: what was remembered there was not kept.

    `sequences` has the tokens and their pages.
    """

    sequences: DraftSequences
    _places: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    _left: deque[int] = field(default_factory=deque[int])
    _departures: int = 0

    def follow(self, context: int, held: int, token: int, read: Read, pieces: Sequence[tuple[int, mx.array]]) -> Pairs:
        """What the head is still to read of a context that holds `held` tokens, before `token`; of `pieces`, the hidden
        states that were kept, in order. Forgets what is not the context's any more."""
        self._forget_other(context, held, read)
        known = self._places[context]
        after = known[-1] if known else -1
        pairs = Pairs([], [], [])
        for first, rows in pieces:
            # Of places that were computed again the latest count.
            start, stop = max(first, after + 1), min(first + rows.shape[0], held)
            if pairs.places and start <= pairs.places[-1]:
                self._cut(pairs, start)
            if start < stop:
                pairs.places.extend(range(start, stop))
                pairs.hidden.append(Rows(rows, start - first, stop - first))
        if pairs.places:
            text = [*read(held - pairs.places[0] - 1), token]
            pairs.tokens.extend(text[place - pairs.places[0]] for place in pairs.places)
        return pairs

    def __contains__(self, context: int) -> bool:
        return context in self.sequences

    def reserve(self, context: int, count: int, busy: Collection[int]) -> bool:
        """Pages for so many more pairs; whether there are enough."""
        return self.sequences.reserve(context, count, busy)

    def append(self, context: int, pairs: Pairs) -> None:
        """The pairs were read."""
        self.sequences.append(context, pairs.tokens)
        self._places[context].extend(pairs.places)

    def fork(self, source: int, target: int) -> None:
        """`target` begins with what is in the full pages of `source`."""
        self.sequences.fork(source, target)
        if target in self.sequences and source in self._places:
            self._places[target] = self._places[source][: self.sequences.length(target)]

    def leave(self, context: int) -> None:
        """A context is gone; another one that begins like it, with cached pages, may go on from its full pages."""
        self._departures += 1
        number = -self._departures
        self.fork(context, number)
        self.drop(context)
        if number in self.sequences:
            self._left.append(number)
        if len(self._left) > MOST_LEFT:
            self.drop(self._left.popleft())

    def drop(self, context: int) -> None:
        """Forget a context."""
        self.sequences.drop(context)
        self._places.pop(context, None)

    def _forget_other(self, context: int, held: int, read: Read) -> None:
        if context not in self.sequences:  # another context may have needed its pages
            self._places[context] = []
            self.sequences.begin(context)
            self._go_on_from_another(context, held, read)
            return
        places = self._places[context]
        while places and places[-1] + 1 >= held:
            places.pop()
        self.sequences.shorten(context, len(places))
        del places[self.sequences.length(context) :]  # pages that a fork reads too are read again
        last = places[-COMPARED:]
        if last:
            text = read(held - last[0] - 1)
            if [text[place - last[0]] for place in last] != self.sequences.tail(context, len(last)):
                places.clear()
                self.sequences.shorten(context, 0)

    def _go_on_from_another(self, context: int, held: int, read: Read) -> None:
        """Begin with what was read of a context that is gone, as far as the texts are the same."""
        text = read(held) if self._left else ()
        alike = {number: self._alike(number, text) for number in self._left if number in self.sequences}
        best = max(alike, key=lambda number: alike[number], default=0)
        count = alike.get(best, 0) // self.sequences.page_size * self.sequences.page_size
        if count:
            self.fork(best, context)
            self.sequences.shorten(context, count)
            del self._places[context][count:]

    def _alike(self, number: int, text: Sequence[int]) -> int:
        """How many of the first pairs of a context that is gone are of `text` too."""
        pairs = zip(self._places[number], self.sequences.tail(number, self.sequences.length(number)), strict=True)
        same = (place + 1 < len(text) and text[place + 1] == token for place, token in pairs)
        return sum(1 for _ in takewhile(bool, same))

    @staticmethod
    def _cut(pairs: Pairs, start: int) -> None:
        """Leave out the places from `start` on."""
        while pairs.places and pairs.places[-1] >= start:
            array, begin, end = pairs.hidden.pop()
            keep = max(0, end - begin - (pairs.places[-1] - start + 1))
            del pairs.places[len(pairs.places) - (end - begin) + keep :]
            if keep:
                pairs.hidden.append(Rows(array, begin, begin + keep))
