"""Contexts: what each holds, the table that finds them by number, and how they share pages."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from pie_mlx.calls import PageCounters
from pie_mlx.engine.kv.pages.image import Image
from pie_mlx.engine.kv.pages.record import NOBODY, IntegrityError, KeptState, Owner, Segment
from pie_mlx.engine.kv.pages.trie import PrefixTrie, chain_of, path
from pie_mlx.engine.kv.pages.values import Mark, Transcript, WorkingToken
from pie_mlx.errors import ContextReleasedError

NO_POSITION = -1
"""The highest committed position of a context that never committed."""


@dataclass(slots=True, eq=False)
class Context:
    """One sequence of KV slots.

    `block_table` lists the committed pages (the first `committed`), then the working pages. Another context computed
    the first `inherited_tokens` working tokens. `image` is set while the context is off-pool and while it is being
    restored; during a restore the pages after `committed` are private and still to be filled. `states` of recurrent
    layers are kept for it at some places, in order; `state_pages` are what its own state costs. It is of `owner`. Once
    it is released, the pages of a `demoted` one are the first to be reclaimed.
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
    owner: Owner = NOBODY
    demoted: bool = False

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

    def mark(self) -> Mark:
        """Records its state before a pass, for `rollback`."""
        return Mark(
            self.committed,
            tuple(self.working),
            self.working_pages,
            self.highest_position,
            self.inherited_tokens,
            len(self.state_pages),
        )

    def transcript(self) -> Transcript:
        """All tokens of the context, in the pool or not."""
        image = self.image
        records, working = (chain_of(self.leaf), self.working) if image is None else (image.records, image.tail.tokens)
        committed = list(chain.from_iterable(record.tokens for record in records))
        return Transcript([*committed, *working], len(committed))


class ContextTable:
    """All live contexts. A new one is empty and starts at the `root` of the trie."""

    def __init__(self, root: Segment, numbers: Iterator[int]) -> None:
        self._root = root
        self._contexts: dict[int, Context] = {}
        self._numbers = numbers

    def __contains__(self, number: int) -> bool:
        return number in self._contexts

    def __iter__(self) -> Iterator[Context]:
        return iter(self._contexts.values())

    def new(self) -> Context:
        """Creates an empty context. Numbers only grow."""
        number = next(self._numbers)
        context = self._contexts[number] = Context(number, self._root)
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
        # Twice in every tick, for each context with a pass: without a call of `resident`.
        return [one.number for one in found if one is not None and one.image is not None and not one.restoring]

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


Name = TypeVar("Name")


@dataclass(frozen=True, slots=True)
class Sharing:
    """Effective pages of every resident context, and the number of pages that more than one of them holds."""

    effective: dict[int, float]
    shared_pages: int


def share_out(contexts: Iterable[Context]) -> Sharing:
    """Divides every page equally among the resident contexts that hold it (K9). Working pages belong to one context,
    and so do those that its state costs.

    One pass over the held segments: holders are summed from the leaves up, shares from the root down.
    """
    residents = [context for context in contexts if context.resident]
    order, shared_pages = _count_holders(residents), 0
    for segment in reversed(order):
        parent, pages = segment.parent, len(segment.pages)
        segment.share = pages / segment.holders + (parent.share if parent else 0.0)
        shared_pages += pages if segment.holders > 1 else 0
    effective = {
        context.number: context.leaf.share + context.working_pages + len(context.state_pages) for context in residents
    }
    return Sharing(effective, shared_pages)


def _count_holders(residents: list[Context]) -> list[Segment]:
    """Sets `holders` of every held segment. Returns the segments, children before parents.

    `unseen` counts the contexts and held children that are not summed yet. At 0 the segment's holders are added to its
    parent, and `unseen` returns to -1 for the next call.
    """
    done: list[Segment] = []
    for context in residents:
        segment, holders = context.leaf, 1
        while segment.parent is not None:
            if segment.unseen < 0:
                segment.unseen, segment.holders = segment.contexts, 0
            segment.unseen -= 1
            segment.holders += holders
            if segment.unseen:
                break
            segment.unseen = -1
            done.append(segment)
            segment, holders = segment.parent, segment.holders
    return done


@dataclass(frozen=True, slots=True)
class PageCount:
    """Pages of a holder in the pool: those that it alone holds, and those that others hold too."""

    own: int = 0
    shared: int = 0


def count_pages(holders: Mapping[Name, Iterable[Context]]) -> dict[Name, PageCount]:
    """The pages of every holder, a group of contexts that counts a page once however many of them hold it."""
    groups = {name: [context for context in group if context.resident] for name, group in holders.items()}
    held = {name: {part for context in group for part in path(context.leaf)} for name, group in groups.items()}
    times = Counter(chain.from_iterable(held.values()))
    return {
        name: PageCount(
            own=sum(len(part.pages) for part in held[name] if times[part] == 1)
            + sum(context.working_pages + len(context.state_pages) for context in group),
            shared=sum(len(part.pages) for part in held[name] if times[part] > 1),
        )
        for name, group in groups.items()
    }


@dataclass(frozen=True, slots=True)
class SharedPages:
    """Committed pages that the same `holders` resident contexts hold. `run` numbers them within one snapshot of
    holdings."""

    run: int
    pages: int
    holders: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """Per context: effective pages (K9), private pages, and shared runs.

    An off-pool context "holds" the runs that it would find in the pool. They need no restore while another context
    holds them.
    """

    effective: dict[int, float] = field(default_factory=dict[int, float])
    private_pages: dict[int, int] = field(default_factory=dict[int, int])
    runs_of: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    runs: tuple[SharedPages, ...] = ()


def picture(contexts: Iterable[Context], trie: PrefixTrie) -> Holdings:
    """The holdings of all contexts. A run with one holder counts as shared if an off-pool context would find it."""
    everyone = list(contexts)
    residents = [context for context in everyone if context.resident]
    paths = {context.number: list(path(context.leaf)) for context in residents}
    found = {context.number: _found(context, trie) for context in everyone if not context.resident}
    holders: dict[Segment, int] = {}
    for segments in paths.values():
        for segment in segments:
            holders[segment] = holders.get(segment, 0) + 1
    awaited = {segment for segments in found.values() for segment in segments}
    shared = [segment for segment, count in holders.items() if count > 1 or segment in awaited]
    numbers = {segment: number for number, segment in enumerate(shared)}
    private = {
        context.number: context.working_pages
        + len(context.state_pages)
        + sum(len(segment.pages) for segment in paths[context.number] if segment not in numbers)
        for context in residents
    }
    runs_of = {
        number: tuple(numbers[segment] for segment in segments if segment in numbers)
        for number, segments in (paths | found).items()
    }
    runs = tuple(SharedPages(numbers[segment], len(segment.pages), holders[segment]) for segment in shared)
    return Holdings(share_out(everyone).effective, private, runs_of, runs)


def _found(context: Context, trie: PrefixTrie) -> list[Segment]:
    """The held segments in which an off-pool context would find its pages."""
    if context.image is None:
        return []
    place, _ = trie.match(context.image.records)
    return [segment for segment in path(place.segment) if segment.contexts]
