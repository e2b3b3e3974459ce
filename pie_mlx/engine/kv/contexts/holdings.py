"""Who holds which pages, as the planner needs it: what each context could give, and what must go together."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from pie_mlx.engine.kv.contexts.context import Context
from pie_mlx.engine.kv.contexts.sharing import share_out
from pie_mlx.engine.kv.pages.segment import Segment
from pie_mlx.engine.kv.pages.trie import PrefixTrie, path


@dataclass(frozen=True, slots=True)
class SharedPages:
    """`pages` committed pages with the same `holders` resident contexts; `run` numbers them within one picture."""

    run: int
    pages: int
    holders: int


@dataclass(frozen=True, slots=True)
class Holdings:
    """Per context: effective pages (K9), pages it alone holds, and the shared runs it holds.

    An off-pool context "holds" the runs that it would find in the pool: they need not come back while another has them.
    """

    effective: dict[int, float] = field(default_factory=dict[int, float])
    private_pages: dict[int, int] = field(default_factory=dict[int, int])
    runs_of: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    runs: tuple[SharedPages, ...] = ()


def picture(contexts: Iterable[Context], trie: PrefixTrie) -> Holdings:
    """The holdings of all contexts. A run of one holder counts as shared when an off-pool context would find it."""
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
    """The held segments that an off-pool context would find again."""
    if context.image is None:
        return []
    place, _ = trie.match(context.image.records)
    return [segment for segment in path(place.segment) if segment.contexts]
