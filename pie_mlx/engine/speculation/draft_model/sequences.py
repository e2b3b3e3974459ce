"""What the draft model has read of each context, and in which of its pages that lies."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from operator import eq
from typing import Protocol

OVERLAP = 64
"""Tokens at the end of what was read that are compared with the context; where they are the same, so is the rest."""


@dataclass(slots=True)
class ReadTokens:
    """Tokens in order, and the pages that hold them."""

    tokens: list[int] = field(default_factory=list[int])
    table: list[int] = field(default_factory=list[int])


class LayerStates(Protocol):
    """What recurrent layers of the draft model remember of each context."""

    def known(self, context: int, tokens: int) -> int:
        """Behind how many of its first `tokens` tokens they can go on: the most."""
        ...

    def seek(self, context: int, tokens: int) -> None:
        """They go on after so many, which are known."""
        ...

    def put(self, context: int, state: None) -> None:
        """They forget the context."""
        ...


class DraftSequences:
    """The books of the draft model's pages. Forks may share full pages, which are never written to; not where the model
    has `states`, which are not in pages.

    A sequence lives until its context goes or another one needs its pages: the one that was not used for longest
    goes first. What is lost is read again.
    """

    def __init__(self, pages: int, page_size: int, states: LayerStates | None = None) -> None:
        self.page_size, self._states = page_size, states
        self._free = list(range(pages - 1, -1, -1))
        self._holders = [0] * pages
        self._sequences: dict[int, ReadTokens] = {}

    def __contains__(self, context: int) -> bool:
        return context in self._sequences

    def __len__(self) -> int:
        return len(self._sequences)

    @property
    def used_pages(self) -> int:
        """Pages that hold something."""
        return len(self._holders) - len(self._free)

    def length(self, context: int) -> int:
        """Tokens of a context that were read."""
        return len(self._sequences[context].tokens)

    def follow(self, context: int, held: int, inputs: Sequence[int], read: Callable[[int], Sequence[int]]) -> list[int]:
        """Forget tokens that differ from the `held` tokens of a context and the `inputs` after them.

        Answers what is still to be read, the last input at least. `read(count)` answers the last `count` of `held`.
        """
        sequence = self._sequences.pop(context, None) or ReadTokens()
        self._sequences[context] = sequence
        start = max(0, min(len(sequence.tokens), held) - OVERLAP)
        wanted = [*read(held - start), *inputs]
        same = _common(sequence.tokens[start:], wanted)
        if start and same < OVERLAP:
            start, wanted = 0, [*read(held), *inputs]
            same = _common(sequence.tokens, wanted)
        self._cut(sequence, self._resumed(context, min(start + same, held + len(inputs) - 1)))
        if len(sequence.tokens) < start:
            start, wanted = 0, [*read(held), *inputs]
        return wanted[len(sequence.tokens) - start :]

    def begin(self, context: int) -> None:
        """A context of which nothing was read yet; it counts as the one used last."""
        self._sequences[context] = self._sequences.pop(context, None) or ReadTokens()

    def tail(self, context: int, count: int) -> list[int]:
        """The last `count` tokens that were read."""
        return self._sequences[context].tokens[-count:]

    def shorten(self, context: int, length: int) -> None:
        """Forget all but the first `length` tokens; it counts as the one used last."""
        self.begin(context)
        self._cut(self._sequences[context], length)

    def reserve(self, context: int, count: int, busy: Collection[int]) -> bool:
        """Pages for `count` more tokens, of the free ones and of those of contexts that are not `busy`; whether there
        are enough of them."""
        sequence = self._sequences[context]
        lacking = -(-(len(sequence.tokens) + count) // self.page_size) - len(sequence.table)
        for other in list(self._sequences):
            if len(self._free) >= lacking:
                break
            if other != context and other not in busy:
                self.drop(other)
        if len(self._free) < lacking:
            return False
        for _ in range(lacking):
            page = self._free.pop()
            self._holders[page] = 1
            sequence.table.append(page)
        return True

    def table(self, context: int) -> list[int]:
        """The pages of a context, in order."""
        return list(self._sequences[context].table)

    def next_slots(self, context: int, count: int) -> list[int]:
        """Where the next `count` tokens go, for which pages are reserved."""
        sequence, size = self._sequences[context], self.page_size
        first = len(sequence.tokens)
        return [sequence.table[slot // size] * size + slot % size for slot in range(first, first + count)]

    def append(self, context: int, tokens: Sequence[int]) -> None:
        """The next tokens were read."""
        self._sequences[context].tokens.extend(tokens)

    def fork(self, source: int, target: int) -> None:
        """`target` begins with the full pages of `source`, which both have from now on."""
        if source not in self._sequences or self._states is not None:
            return
        origin = self._sequences[source]
        full = len(origin.tokens) // self.page_size
        self.drop(target)
        if full:
            self._sequences[target] = ReadTokens(origin.tokens[: full * self.page_size], origin.table[:full])
            for page in origin.table[:full]:
                self._holders[page] += 1

    def drop(self, context: int) -> None:
        """Forget a context."""
        sequence = self._sequences.pop(context, None)
        if sequence is not None:
            self._release(sequence.table)
        if self._states is not None:
            self._states.put(context, None)

    def check_integrity(self) -> None:
        """Raises RuntimeError when the books do not balance."""
        counts = [0] * len(self._holders)
        for sequence in self._sequences.values():
            if len(sequence.tokens) > len(sequence.table) * self.page_size:
                raise RuntimeError("draft pages: a sequence is longer than its pages")
            for page in sequence.table:
                counts[page] += 1
        if counts != self._holders or sorted(self._free) != [page for page, count in enumerate(counts) if not count]:
            raise RuntimeError("draft pages: holders and free pages do not add up")

    def _resumed(self, context: int, length: int) -> int:
        """Of `length` tokens, those after which the model can go on; it does."""
        if self._states is None:
            return length
        known = self._states.known(context, length)
        if known:
            self._states.seek(context, known)
        else:
            self._states.put(context, None)
        return known

    def _cut(self, sequence: ReadTokens, length: int) -> None:
        """Forget all tokens beyond `length`, and those before it in a page that others read too: it is written next."""
        size = self.page_size
        last = length // size
        if length % size and self._holders[sequence.table[last]] > 1:
            length = last * size
        keep = -(-length // size)
        self._release(sequence.table[keep:])
        del sequence.table[keep:], sequence.tokens[length:]

    def _release(self, pages: Sequence[int]) -> None:
        for page in pages:
            self._holders[page] -= 1
            if not self._holders[page]:
                self._free.append(page)


def _common(left: Sequence[int], right: Sequence[int]) -> int:
    """How many leading tokens are the same."""
    return sum(1 for _ in takewhile(bool, map(eq, left, right)))
