"""The pool page by page: who holds each, since when, and with what in it. All functions run on the engine's loop."""

from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

import msgspec

from pie_mlx.engine.kv.contexts.context import Context
from pie_mlx.engine.kv.pages.pool import LruSegments
from pie_mlx.engine.kv.pages.record import NO_PAGE, PageRecord, Segment, resident_page
from pie_mlx.engine.kv.pages.trie import chain_of, path
from pie_mlx.engine.services import Services

PageKind = Literal["held", "working", "state", "snapshot", "kept", "cached", "withheld", "free"]
"""Full pages of contexts, those that are being filled, what states of recurrent layers cost; pages that no context
holds: of snapshots, kept for a while, cached, withheld from use, and free."""


class PageGroup(msgspec.Struct, frozen=True):
    """Physical pages of a kind that the same contexts hold, in the order of their text. `stored` ones also lie in the
    disk cache."""

    kind: PageKind
    contexts: tuple[int, ...] = ()
    pages: tuple[int, ...] = ()
    stored: bool = False


class StateSlot(msgspec.Struct, frozen=True):
    """What recurrent layers remember of a context after `tokens` tokens, None if nothing, at the price of `pages`; and
    after how many tokens other states are kept for it."""

    context: int
    pages: tuple[int, ...]
    tokens: int | None
    kept: tuple[int, ...]


class PageDetail(msgspec.Struct, frozen=True):
    """One page. Times are seconds ago, None if unknown: since it is in the pool, and since its latest use.

    Its key is computed from that of the page before it, `after`; both are hexadecimal, "" where there is none. Of its
    text it has `tokens` from number `first` on, with a kept state of recurrent layers after `state_tokens`. `user` had
    it computed first. Of what lies on disk, `stored` outlives the engine, and `spilled` is of suspended contexts.
    """

    page: int
    kind: PageKind
    contexts: tuple[int, ...] = ()
    user: str = ""
    key: str = ""
    after: str = ""
    first: int = 0
    tokens: tuple[int, ...] = ()
    made_seconds: float | None = None
    used_seconds: float | None = None
    stored: bool = False
    spilled: bool = False
    state_tokens: int | None = None


def page_groups(services: Services) -> list[PageGroup]:
    """All pages of the pool, each in one group."""
    pool = services.store.pool
    groups: defaultdict[tuple[PageKind, tuple[int, ...], bool], list[int]] = defaultdict(list)
    for kind, contexts, segment in _segments(services):
        for record in segment.pages:
            groups[kind, contexts, is_stored(services, record)].append(resident_page(record))
    for context in _residents(services):
        groups["working", (context.number,), False] += context.block_table[context.committed :]
        groups["state", (context.number,), False] += context.state_pages
    groups["withheld", (), False] += pool.withheld
    groups["free", (), False] += [*pool.promised.values(), *pool.free_ids]
    return [PageGroup(kind, held, tuple(pages), stored) for (kind, held, stored), pages in groups.items() if pages]


def state_slots(services: Services) -> list[StateSlot]:
    """The state slots of all contexts, for a model with recurrent layers."""
    if not services.runner.model.recurrent:
        return []
    slots: list[StateSlot] = []
    for context in _residents(services):
        state = services.runner.model.network.state(context.number)
        ends = [page.checkpoint for page in chain_of(context.leaf)]
        kept = {one.tokens for one in (*ends, *context.states) if one is not None and one.state is not None}
        tokens = None if state is None else state.tokens
        slots.append(StateSlot(context.number, tuple(context.state_pages), tokens, tuple(sorted(kept))))
    return slots


def page_detail(services: Services, page: int) -> PageDetail:
    """The details of a page; a page of which nothing is known is free or withheld."""
    for kind, contexts, segment in _segments(services):
        for place, record in enumerate(segment.pages):
            if record.page == page:
                return _full(services, page, kind, contexts, segment, place)
    for context in _residents(services):
        if page in context.state_pages:
            state = services.runner.model.network.state(context.number)
            tokens = None if state is None else state.tokens
            return PageDetail(page, "state", (context.number,), state_tokens=tokens)
        if page in context.block_table[context.committed :]:
            return _working(services, page, context)
    return PageDetail(page, "withheld" if page in services.store.pool.withheld else "free")


def is_stored(services: Services, record: PageRecord) -> bool:
    """Whether a page of the pool also lies in the disk cache."""
    disk, user = services.disk, record.stored_for
    return disk is not None and user is not None and bool(record.key) and disk.holds(user, record.key)


def _segments(services: Services) -> Iterator[tuple[PageKind, tuple[int, ...], Segment]]:
    """Every run of full pages, with the contexts that hold it."""
    holders: dict[Segment, list[int]] = {}
    for context in _residents(services):
        for segment in path(context.leaf):
            holders.setdefault(segment, []).append(context.number)
    for segment, numbers in holders.items():
        yield "held", tuple(numbers), segment
    pool = services.store.pool
    resting: tuple[tuple[PageKind, LruSegments], ...] = (
        ("snapshot", pool.snapshot_only),
        ("kept", pool.kept),
        ("cached", pool.cached),
    )
    for kind, lru in resting:
        for segment in lru.segments:
            yield kind, (), segment


def _residents(services: Services) -> list[Context]:
    return [context for context in services.store.contexts if context.resident]


def _full(
    services: Services, page: int, kind: PageKind, contexts: tuple[int, ...], segment: Segment, place: int
) -> PageDetail:
    record, before = segment.pages[place], chain_of(segment)[: place - len(segment.pages)]
    now, state = services.clock(), record.checkpoint
    used = [segment.used_seconds] if not contexts else _passes(services, contexts)
    return PageDetail(
        page,
        kind,
        contexts,
        user=record.user,
        key=record.key.hex(),
        after=(before[-1].key if before else NO_PAGE).hex(),
        first=sum(one.rows for one in before),
        tokens=tuple(token.token for token in record.tokens),
        made_seconds=_ago(now, record.made_seconds),
        used_seconds=_ago(now, max(used, default=0.0)),
        stored=is_stored(services, record),
        spilled=record.spill is not None,
        state_tokens=state.tokens if state is not None and state.state is not None else None,
    )


def _working(services: Services, page: int, context: Context) -> PageDetail:
    size, place = services.store.page_size, context.block_table.index(page)
    start = (place - context.committed) * size
    tokens = tuple(token.token for token in context.working[start : start + size])
    used = _ago(services.clock(), max(_passes(services, (context.number,)), default=0.0))
    return PageDetail(
        page, "working", (context.number,), context.owner.user, first=place * size, tokens=tokens, used_seconds=used
    )


def _passes(services: Services, contexts: tuple[int, ...]) -> list[float]:
    """When the latest pass of each context began."""
    live = (process.contexts.get(number) for process in services.processes.values() for number in contexts)
    return [context.started_seconds for context in live if context is not None]


def _ago(now: float, seconds: float) -> float | None:
    return round(now - seconds, 3) if seconds else None
