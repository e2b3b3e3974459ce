"""Why the next page of a context is not cached."""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from pie_mlx.calls import MissReason
from pie_mlx.engine.kv.contexts.context import Context, ContextTable
from pie_mlx.engine.kv.contexts.working import page_tokens
from pie_mlx.engine.kv.pages.evictions import Eviction, Evictions
from pie_mlx.engine.kv.pages.record import PageHasher, WorkingToken
from pie_mlx.engine.kv.pages.trie import last_key

MOST_COMPARED = 64
"""Cached pages that are compared with the missing one: comparing one takes some 5 microseconds."""


class PageMiss(NamedTuple):
    """Why the page was not cached, see `calls.Miss`: `tokens` are its own from `position` on, `cached` those of the
    nearest cached page."""

    reason: MissReason
    position: int
    tokens: Sequence[WorkingToken] = ()
    cached: Sequence[WorkingToken] = ()
    eviction: Eviction | None = None


class Misses:
    """Compares missing pages with cached ones and with those that were evicted lately.

    Only with pages that the same user had computed: where two texts part is for their author to know.
    """

    def __init__(self, contexts: ContextTable, hasher: PageHasher, evictions: Evictions, page_size: int) -> None:
        self._contexts, self._hasher, self._evictions, self._page_size = contexts, hasher, evictions, page_size

    def find(self, number: int, tokens: Sequence[WorkingToken]) -> PageMiss | None:
        """Why the page that the working tokens of a context and `tokens` fill next is not cached. None if they fill
        none."""
        context, size = self._contexts.usable(number), self._page_size
        page, start = page_tokens(context.working, tokens, 0, size), context.committed * size
        if len(page) < size:
            return None
        if min(token.position for token in page) <= context.highest_position:
            return PageMiss("positions", start)
        key = self._hasher.key(last_key(context.leaf), page)
        if key in context.leaf.children:
            return PageMiss("state", start)
        eviction = self._evictions.find(key)
        if eviction is not None:
            return PageMiss("evicted", start, eviction=eviction)
        nearest, common = self._nearest(context, page)
        reason = _difference(page[common], nearest[common]) if nearest else "new"
        if reason == "new" or (reason == "differs" and not start + common):
            return PageMiss("new", start)
        return PageMiss(reason, start + common, page[common:], nearest[common:])

    def _nearest(self, context: Context, page: Sequence[WorkingToken]) -> tuple[Sequence[WorkingToken], int]:
        """The tokens of the cached page with most leading tokens of `page`, rather one that goes on with the same text
        computed otherwise, and their number."""
        best: tuple[Sequence[WorkingToken], int] = ((), 0)
        closest = (-1, False)
        for child in islice(reversed(context.leaf.children.values()), MOST_COMPARED):
            record = child.pages[0]
            if record.user != context.owner.user:
                continue
            tokens = record.tokens
            common = _common(page, tokens)
            near = common, page[common].token == tokens[common].token
            if near > closest:
                best, closest = (tokens, common), near
        return best


def _common(left: Sequence[WorkingToken], right: Sequence[WorkingToken]) -> int:
    pairs = zip(left, right, strict=True)
    return next((place for place, (own, other) in enumerate(pairs) if own != other), len(left))


def _difference(own: WorkingToken, cached: WorkingToken) -> MissReason:
    if own.token != cached.token:
        return "differs"
    if (own.adapter, own.adapter_version, own.zo_seed) != (cached.adapter, cached.adapter_version, cached.zo_seed):
        return "adapter"
    return "positions" if own.position != cached.position else "mask"
