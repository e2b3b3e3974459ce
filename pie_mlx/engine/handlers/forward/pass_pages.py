"""What a pass takes, and gives back after an error: cached pages, new pages, and tokens of a wallet."""

from collections.abc import Coroutine, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol, TypeVar

from msgspec.structs import replace

from pie_mlx import calls
from pie_mlx.engine.handlers.forward.checkpointing import attach_pages, is_shared_soon
from pie_mlx.engine.handlers.forward.disk_pages import PagesOnDisk, pages_on_disk, read_pages
from pie_mlx.engine.kv import PageMiss, PageStore, WorkingToken
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.errors import TokenBudgetError

T = TypeVar("T")

SHOWN_TOKENS = 8
"""Tokens shown of a prompt, and of the cached text that it differs from."""


def check_room(services: Services, context: LiveContext, call: calls.Forward) -> None:
    """Raises PageError for more tokens than the pool can hold: positions may repeat, so nothing else bounds them."""
    store, tokens = services.store, len(call.pending) + len(call.tokens)
    if call.reserve:
        store.working.require_capacity(context.id, store.working.lacking(context.id, tokens))
    else:
        store.working.rows(context.id, tokens)


class PrefixMatch(NamedTuple):
    """What of a pass was in the prefix cache.

    Attached pages cover `attached` inputs; of these, `loaded` came from disk. Of those after them, `replayed` are
    computed although their pages are cached, as recurrent layers need them. `key` is that of the first page to compute,
    for which others may wait (K5); `miss` is why that page of a prompt was not cached.
    """

    attached: int = 0
    loaded: int = 0
    replayed: int = 0
    key: bytes | None = None
    miss: PageMiss | None = None


async def match_prefix(
    services: Services,
    context: LiveContext,
    call: calls.Forward,
    plain: Sequence[WorkingToken],
    reads: Sequence[LogitsRequest],
) -> PrefixMatch:
    """Attach cached pages of the `plain` inputs before those that `reads` need, also those that another pass computes
    now, and those on disk (K5, K6). None if the pass leaves its pages uncommitted: what is attached is committed."""
    limit = len(plain)
    if reads:
        limit = min(limit, len(call.pending) + min([read.index for read in reads]))
    if not limit or not call.reserve or not call.commit:
        return PrefixMatch()
    store, attached, loaded = services.store, 0, 0
    reserved = store.working.empty_pages(context.id)

    def runs(other: int) -> bool:
        return other in store.contexts and store.contexts[other].usable

    while True:
        found = attach_pages(services, context.id, plain[attached:], limit - attached)
        attached += found.attached
        wanted = plain[attached:limit]
        key = store.working.next_key(context.id, wanted) if is_shared_soon(services, wanted) else None
        if not await services.inflight_prefixes.wait(key, wanted, runs):
            stored = await pages_on_disk(services, context, plain[attached:], limit - attached)
            from_disk = await _load(services, context, stored, key) if stored.pages else 0
            attached, loaded = attached + from_disk, loaded + from_disk
            if not from_disk and runs(context.id):
                miss = store.misses.find(context.id, wanted) if len(wanted) >= store.page_size else None
                return PrefixMatch(attached, loaded, found.replayed, key, miss)
        await services.queue.restore(context, computes=True)
        # Of a load that was given up: what is attached now leaves no use for them.
        store.working.release(context.id, max(0, store.working.empty_pages(context.id) - reserved))


def reuse_of(services: Services, context: LiveContext, computed: int, match: PrefixMatch) -> calls.Reuse:
    """How the inputs of a pass got their KV: it `computed` so many, and attached the others."""
    reuse = calls.Reuse(match.attached - match.loaded, match.loaded, match.replayed, computed - match.replayed)
    miss = match.miss
    if miss is None:
        return reuse
    shown, evicted = services.language.tokenizer.shown, miss.eviction
    text, cached = (shown([token.token for token in part[:SHOWN_TOKENS]]) for part in (miss.tokens, miss.cached))
    why = calls.Miss(miss.reason, miss.position, text, cached)
    if evicted is not None:
        is_known = evicted.beneficiary.user in ("", context.user)
        why = replace(why, evicted_at=evicted.seconds, evicted_for=evicted.beneficiary.program if is_known else "")
    return replace(reuse, miss=why)


async def _load(
    services: Services,
    context: LiveContext,
    stored: PagesOnDisk,
    key: bytes | None,
) -> int:
    """Load pages that are on disk, the first of them with the `key`; returns how many inputs they cover. Meanwhile
    others that need the same pages wait."""
    store, before = services.store, services.store.sequence_length(context.id)
    with services.inflight_prefixes.computing(key, context.id, stored.inputs):
        await reserve_pages(services, context, len(stored.inputs))
        await read_pages(services, context, stored)
    return store.sequence_length(context.id) - before


def room_on_page(store: PageStore, context: int, inputs: int) -> int:
    """How many tokens still fit on the last page after the `inputs` of a pass."""
    counters = store.contexts[context].counters()
    return counters.working * store.page_size - counters.working_tokens - inputs


@contextmanager
def undone_by_errors(services: Services, context: LiveContext, *, commits: bool) -> Generator[None]:
    """After any error inside, the context has its pages and its recurrent state from before."""
    store, model = services.store, services.runner.model
    mark = store.contexts.usable(context.id).mark()
    state = model.network.state(context.id) if model.recurrent else None
    try:
        yield
    except BaseException:
        try:
            if context.released and commits and store.contexts[context.id].usable:
                # Computed pages are shared with others, who may wait for them (K5).
                store.working.commit_full(context.id)
        finally:
            services.queue.rollback(context, mark)
            if model.recurrent:
                model.network.set_state(context.id, state if store.contexts[context.id].usable else None)
        raise


async def reserve_pages(services: Services, context: LiveContext, tokens: int) -> None:
    """Take the pages that so many more tokens need, and those that the recurrent state of the context counts as."""
    store, number = services.store, context.id
    lacking = store.working.lacking(number, tokens) if tokens else 0

    def take() -> None:
        if store.states.pages_each:
            store.states.take_pages(number)
        store.working.reserve(number, lacking)

    pages = lacking + (store.states.lacking_pages(number) if store.states.pages_each else 0)
    if pages:
        await services.queue.with_pages(context, pages, take)


class Further(Protocol):
    """What may follow the inputs of a pass: `count` tokens at most, of which `kept` are in KV once it is over."""

    @property
    def count(self) -> int: ...
    @property
    def kept(self) -> int: ...
    def trim(self, count: int) -> None:
        """Add no more than `count`."""
        ...


async def pay_for(
    services: Services,
    account: int,
    tokens: int,
    more: Further | None,
    work: Coroutine[Any, Any, T],
) -> T:
    """Run the `work` of a pass with `tokens` inputs, and charge a wallet for them.

    `more` is trimmed to what is left in the wallet. A failed pass costs nothing, and neither do rejected drafts (M3).
    Raises TokenBudgetError before anything runs.
    """
    try:
        reservation = services.accounting.reserve_tokens(account, tokens, 0 if more is None else more.count)
    except TokenBudgetError:
        work.close()
        raise
    if more is not None:
        more.trim(reservation.drafts)
    appended = 0
    try:
        results = await work
        appended = tokens if more is None else tokens + more.kept
        return results
    finally:
        services.accounting.charge_tokens(account, reservation, appended)
