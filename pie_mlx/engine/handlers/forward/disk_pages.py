"""Prompts whose pages are on disk."""

from collections.abc import Sequence
from contextlib import aclosing
from typing import NamedTuple

from pie_mlx.engine.kv import PageRecord, WorkingToken
from pie_mlx.engine.model.networks.states import RecurrentState
from pie_mlx.engine.paging.disk.disk_cache import DiskCache
from pie_mlx.engine.paging.disk.reading import read_ahead
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services


class PagesOnDisk(NamedTuple):
    """Pages that continue a context with its next `inputs`. The last page may be of use only in part."""

    pages: list[PageRecord]
    inputs: Sequence[WorkingToken]


NONE = PagesOnDisk([], ())


async def pages_on_disk(
    services: Services, context: LiveContext, inputs: Sequence[WorkingToken], limit: int
) -> PagesOnDisk:
    """The pages that continue a context with the first `limit` of `inputs` and are on disk, if it is faster to load
    than to compute them. The context may have left the pool meanwhile, and then there are none."""
    disk, store, number = services.disk, services.store, context.id
    if disk is None:
        return NONE
    found = await disk.run_of(context.user, store.working.following(number, inputs, limit))
    if services.runner.model.recurrent:
        while found and not disk.holds_state(context.user, found[-1].key):
            found.pop()
    if not store.contexts[number].usable:
        return NONE
    tokens = store.working.tokens_to_fill(number, len(found))
    if not services.runner.model.recurrent:
        opening = store.working.opening(number, inputs, len(found), found[-1].key if found else None)
        record = next((one for one in opening if disk.holds(context.user, one.key)), None)
        if record is not None:
            found.append(record)
            tokens = min(tokens + record.rows, limit)
    worthwhile = found and tokens > 0 and disk.is_worthwhile(len(found), tokens)
    return PagesOnDisk(found, inputs[:tokens]) if worthwhile else NONE


async def read_pages(services: Services, context: LiveContext, stored: PagesOnDisk) -> None:
    """Load pages to the first working pages of a context, as far as they can be read and it stays in the pool."""
    if services.disk is not None:
        context.rests = True  # no batch waits for it
        await (_load_with_state if services.runner.model.recurrent else _load)(services, services.disk, context, stored)


async def _load(services: Services, disk: DiskCache, context: LiveContext, stored: PagesOnDisk) -> None:
    store, number, done = services.store, context.id, 0
    pages, end = stored.pages, store.sequence_length(number) + len(stored.inputs)
    full = end // store.page_size - store.contexts[number].committed
    async with aclosing(read_ahead(disk, context.user, pages)) as parts:
        async for loaded in parts:
            held = store.contexts[number]
            targets = held.block_table[held.committed : held.committed + loaded.pages]
            if not held.usable or not await services.queue.fill(context, targets, loaded.content):
                return
            store.working.attach_read(number, pages[done : min(full, done + loaded.pages)])
            done += loaded.pages
            if done > full:
                left = end - store.sequence_length(number)
                store.working.append(number, stored.inputs[len(stored.inputs) - left :])


async def _load_with_state(services: Services, disk: DiskCache, context: LiveContext, stored: PagesOnDisk) -> None:
    """The same, and the state of recurrent layers after them: without it, nothing."""
    store, number, pages = services.store, context.id, stored.pages
    host = await disk.load_state(context.user, pages[-1])
    if host is None:
        return
    end = (store.contexts[number].counters().committed + len(pages)) * store.page_size
    state = await services.runner.call(lambda: RecurrentState.from_host(host, end))
    await _load(services, disk, context, stored)
    if store.contexts[number].usable and store.sequence_length(number) == end:
        services.runner.model.network.set_state(number, state)
        store.states.keep(number, state, end, state.size_bytes, shared=True)
