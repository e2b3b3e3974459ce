"""The pages of a snapshot that outlives the engine: written to the disk cache when it is saved."""

from pie_mlx.engine.hosting.process import HostedProcess
from pie_mlx.engine.kv import Evicted, Lasting
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.services import Services
from pie_mlx.events import SnapshotStored


async def store_pages(services: Services, process: HostedProcess, context: LiveContext, name: str) -> None:
    """Write the pages of a context, and states after them, that are not on disk yet, and emit how many are. What is
    neither there nor in the pool, and what has no room, is computed when the snapshot is opened."""
    disk, store = services.disk, services.store
    if disk is None:
        return
    start, size = 0, disk.batch_pages
    while batch := store.lasting_pages_of(context.id)[start : start + size]:  # pages may have left the pool meanwhile
        chosen, later = disk.admitted(filter(None, map(_in_pool, batch)), asked=True)
        if chosen:
            await services.queue.store(chosen)
        if chosen or later:
            await disk.flush()
        start += 0 if later else size
    held = store.lasting_pages_of(context.id)
    stored = sum(disk.holds(process.username, page.record.key) for page in held)
    counters = store.contexts[context.id].counters()
    pages = counters.committed + -(-counters.working_tokens // store.page_size)
    services.emit(SnapshotStored(process.id, context.id, name, pages, stored))


def _in_pool(page: Lasting) -> Evicted | None:
    return None if page.record.page is None else Evicted(page.record.page, page.record, page.state)
