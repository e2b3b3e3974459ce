"""Page holdings: effective pages, what each context could free, and which pages several holders share."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeVar

from pie_mlx.engine.kv.contexts.context import Context
from pie_mlx.engine.kv.pages.segment import Segment
from pie_mlx.engine.kv.pages.trie import PrefixTrie, path

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
