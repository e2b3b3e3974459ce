"""From the plan's chunks to the runner's batch, and from its results back to the passes."""

from collections.abc import Iterable, Sequence

from pie_mlx.calls import AnyResult, Brle
from pie_mlx.engine.kv import PageStore, Rows
from pie_mlx.engine.kv.contexts.working import pages_for
from pie_mlx.engine.kv.masks import row_runs
from pie_mlx.engine.model.runner.batch import LogitsRequest, ScheduledTokens, WorkResult
from pie_mlx.engine.scheduler.continuation import FurtherSteps
from pie_mlx.engine.scheduler.forward_task import ForwardTask
from pie_mlx.engine.speculation.drafting import Window
from pie_mlx.errors import BatchFailedError


def chunk_work(store: PageStore, item: ForwardTask, count: int, further: int = 0) -> ScheduledTokens:
    """The next `count` inputs of a pass as rows of a batch, which `further` steps may follow."""
    context = item.context.id
    rows = _replayed_rows(store, item, count) if item.replay else store.working.rows(context, count + further)
    # By columns, as one step of every stream in a batch comes through here between two passes of the device.
    tokens, positions, masks, *origins = zip(*item.inputs[item.cursor : item.cursor + count], strict=True)
    return ScheduledTokens(
        context=context,
        tokens=tokens,
        positions=positions,
        slots=rows.slots[:count],
        block_table=rows.block_table,
        kv_length=rows.first + count,
        masks=None if masks.count(None) == count else _chunk_masks(masks, rows.first),
        reads=_chunk_reads(item, count),
        adapters=list(zip(*origins, strict=True)) if item.has_adapter else None,
        further_slots=rows.slots[count:],
    )


def reserve_further(store: PageStore, chunks: Sequence[tuple[ForwardTask, int]], steps: int) -> bool:
    """Reserve the pages for `steps` steps behind the passes, if there are enough."""
    lacking = [store.working.lacking(item.context.id, count + steps) for item, count in chunks]
    if sum(lacking) > store.pool.available():
        return False
    for (item, _), pages in zip(chunks, lacking, strict=True):
        if item.continuation is not None and pages:
            store.working.reserve(item.context.id, pages)
            item.continuation.extra_pages += pages
    return True


def _replayed_rows(store: PageStore, item: ForwardTask, count: int) -> Rows:
    """The slots that the next inputs of a replay are written to again."""
    size, table = store.page_size, store.contexts.resident(item.context.id).block_table
    first = item.first_slot + item.cursor
    slots = [table[slot // size] * size + slot % size for slot in range(first, first + count)]
    return Rows(first, slots, table[: pages_for(first + count, size)])


def _chunk_reads(item: ForwardTask, count: int) -> tuple[LogitsRequest, ...]:
    if item.runs_whole(count):
        return tuple(item.reads)
    start = item.cursor
    return tuple(
        LogitsRequest(read.index - start, read.read, read.stream, read.counter, read.mask)
        for _, read in item.reads_within(count)
    )


def _chunk_masks(masks: Sequence[bytes | None], first_slot: int) -> list[Brle]:
    """The rows of a chunk that begins at `first_slot`."""
    return [row_runs(mask, first_slot + index) for index, mask in enumerate(masks)]


def take_result(store: PageStore, item: ForwardTask, count: int, result: WorkResult) -> int:
    """A chunk is computed: its tokens are in KV, its readings in the pass. A failed one fails the whole pass.

    So does one that cannot be kept: who waits for the pass takes back what it did, the others of the batch go on.

    Answers how many pages were committed that the context had to compute (M10).
    """
    if isinstance(result, BatchFailedError):
        item.fail(result)
        return 0
    try:
        return _keep(store, item, count, result)
    except Exception as error:
        item.fail(_lost(error))
        return 0


def _lost(error: Exception) -> BatchFailedError:
    lost = BatchFailedError(
        f"forward: what the pass computed could not be kept: {type(error).__name__}: {error}",
        hint="the context is as it was before it; report this, as it is a fault of the engine",
        cause=str(error),
    )
    lost.__cause__ = error
    return lost


def _keep(store: PageStore, item: ForwardTask, count: int, result: Sequence[AnyResult]) -> int:
    if not item.replay:
        store.working.append(item.context.id, item.inputs[item.cursor : item.cursor + count])
    item.take(count, result)
    if item.remaining:
        return 0
    if item.window is not None:
        _take_back(store, item, item.window)
    if item.continuation is not None:
        _commit_further(store, item, item.continuation)
    made = store.working.commit_full(item.context.id).computed if item.commits else 0
    item.finish()
    return made


def _take_back(store: PageStore, item: ForwardTask, window: Window) -> None:
    """Rejected drafts leave KV, and their pages the context, before anything is committed (V3)."""
    store.working.truncate(item.context.id, item.rejected())
    _release_unused(store, item.context.id, window.extra_pages)


def _commit_further(store: PageStore, item: ForwardTask, continuation: FurtherSteps) -> None:
    """The tokens of further steps are in KV, but for the last one."""
    store.working.append(item.context.id, continuation.committed(item.inputs[-1], item.in_order()))
    _release_unused(store, item.context.id, continuation.extra_pages)


def _release_unused(store: PageStore, context: int, most: int) -> None:
    if most:
        counters = store.contexts[context].counters()
        unused = counters.working - pages_for(counters.working_tokens, store.page_size)
        store.working.release(context, min(most, unused))


def fail_all(items: Iterable[ForwardTask], error: BatchFailedError) -> None:
    """A batch failed: every program with rows in it is told (E4)."""
    for item in items:
        item.fail(BatchFailedError(error.message, hint=error.hint, cause=error.cause))
