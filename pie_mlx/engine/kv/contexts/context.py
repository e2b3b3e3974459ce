"""Contexts: what each holds, and the table that finds them by number."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from pie_mlx.calls import PageCounters
from pie_mlx.engine.kv.pages.image import Image
from pie_mlx.engine.kv.pages.segment import IntegrityError, KeptState, Segment
from pie_mlx.engine.kv.pages.trie import chain_of
from pie_mlx.engine.kv.pages.values import Transcript, WorkingToken
from pie_mlx.errors import ContextReleasedError

NO_POSITION = -1
"""The highest committed position of a context that never committed."""


@dataclass(slots=True, eq=False)
class Context:
    """One sequence of KV slots.

    `block_table` lists the committed pages (the first `committed`), then the working pages. Another context computed
    the first `inherited_tokens` working tokens. `image` is set while the context is off-pool and while it is being
    restored; during a restore the pages after `committed` are private and still to be filled. `states` of recurrent
    layers are kept for it at some places, in order; `state_pages` are what its own state costs. `user` owns what it
    computes.
    """

    number: int
    leaf: Segment
    committed: int = 0
    block_table: list[int] = field(default_factory=list[int])
    working: list[WorkingToken] = field(default_factory=list[WorkingToken])
    highest_position: int = NO_POSITION
    inherited_tokens: int = 0
    image: Image | None = None
    restoring: bool = False
    states: list[KeptState] = field(default_factory=list[KeptState])
    state_pages: list[int] = field(default_factory=list[int])
    user: str = ""

    @property
    def resident(self) -> bool:
        """Whether the context holds its pages."""
        return self.image is None or self.restoring

    @property
    def usable(self) -> bool:
        """Whether passes and page operations are allowed: the context is in the pool and not being restored."""
        return self.image is None

    @property
    def pages(self) -> int:
        """Committed and working pages, in the pool or not."""
        image = self.image
        return len(self.block_table) if image is None else len(image.records) + image.working_pages

    @property
    def priced_pages(self) -> int:
        """All pages that it holds: also those of its state."""
        return self.pages + (len(self.state_pages) if self.image is None else self.image.state_pages)

    def last_states(self) -> list[KeptState]:
        """The kept states of its own and the one after its last committed page, as far as they are there."""
        end = self.leaf.pages[-1].checkpoint if self.leaf.pages else None
        every = dict.fromkeys((*self.states, end))
        return [kept for kept in every if kept is not None and kept.state is not None]

    @property
    def working_pages(self) -> int:
        return len(self.block_table) - self.committed

    @property
    def last_page(self) -> int | None:
        """The last page; the next one should be its neighbour."""
        return self.block_table[-1] if self.block_table else None

    def counters(self) -> PageCounters:
        """The counts that the program sees; off-pool, those from when it left the pool."""
        image = self.image
        if image is None:
            return PageCounters(self.committed, len(self.block_table) - self.committed, len(self.working))
        return PageCounters(len(image.records), image.working_pages, len(image.tail.tokens))

    def transcript(self) -> Transcript:
        """All tokens of the context, in the pool or not."""
        image = self.image
        records, working = (chain_of(self.leaf), self.working) if image is None else (image.records, image.tail.tokens)
        committed = list(chain.from_iterable(record.tokens for record in records))
        return Transcript([*committed, *working], len(committed))


class ContextTable:
    """All live contexts. A new one is empty and starts at the `root` of the trie."""

    def __init__(self, root: Segment) -> None:
        self._root = root
        self._contexts: dict[int, Context] = {}
        self._next_number = 1

    def __contains__(self, number: int) -> bool:
        return number in self._contexts

    def __iter__(self) -> Iterator[Context]:
        return iter(self._contexts.values())

    def new(self) -> Context:
        """Creates an empty context. Numbers only grow."""
        context = self._contexts[self._next_number] = Context(self._next_number, self._root)
        self._next_number += 1
        return context

    def remove(self, number: int) -> Context | None:
        """Removes and returns the context; None for an unknown number."""
        return self._contexts.pop(number, None)

    def __getitem__(self, number: int) -> Context:
        """The context. Raises ContextReleasedError for an unknown number."""
        try:
            return self._contexts[number]
        except KeyError:
            raise ContextReleasedError(
                f"context {number}: already released", hint="use a context only before you release it"
            ) from None

    def off_pool(self, numbers: Iterable[int]) -> list[int]:
        """The contexts among `numbers` that are off-pool. Released contexts are skipped."""
        found = map(self._contexts.get, numbers)
        return [context.number for context in found if context is not None and not context.resident]

    def resident(self, number: int) -> Context:
        """A context that holds its pages, filled or not. Raises IntegrityError if it is off-pool."""
        context = self[number]
        if not context.resident:
            raise _off_pool(number)
        return context

    def usable(self, number: int) -> Context:
        """A context whose pages have their content. Raises IntegrityError if they do not."""
        context = self._contexts.get(number)
        if context is None or context.image is not None:
            raise _off_pool(self[number].number)
        return context


def _off_pool(number: int) -> IntegrityError:
    return IntegrityError(f"context {number} is off-pool: restore it first")
