"""From the plan's chunks to the runner's batch, and from its results back to the passes."""

from collections.abc import Iterable, Sequence

from pie_mlx.calls import Brle
from pie_mlx.engine.drafting import Window
from pie_mlx.engine.kv import PageStore, WorkingToken
from pie_mlx.engine.kv.masks import row_runs
from pie_mlx.engine.kv.working import pages_for
from pie_mlx.engine.model.batch import RowRead, Work, WorkResult
from pie_mlx.engine.model.step import AdapterUse
from pie_mlx.engine.passes import Pass
from pie_mlx.errors import BatchFailedError


def chunk_work(store: PageStore, item: Pass, count: int) -> Work:
    """The next `count` inputs of a pass as rows of a batch."""
    context, size = item.context.id, store.page_size
    chunk = item.inputs[item.cursor : item.cursor + count]
    if item.replay:
        first, table = item.first_slot + item.cursor, store.block_table(context)
        slots = [table[slot // size] * size + slot % size for slot in range(first, first + count)]
    else:
        first, table = store.sequence_length(context), store.block_table(context)
        slots = store.next_slots(context, count)
    reads = tuple(_within(read, item.cursor) for _, read in item.reads_within(count))
    return Work(
        context=context,
        tokens=[record.token for record in chunk],
        positions=[record.position for record in chunk],
        slots=slots,
        block_table=table[: -(-(first + count) // size)],
        kv_length=first + count,
        masks=_chunk_masks(chunk, first),
        reads=reads,
        adapters=_chunk_adapters(item, chunk),
    )


def _within(read: RowRead, start: int) -> RowRead:
    if not start:
        return read
    return RowRead(read.index - start, read.read, read.stream, read.counter, read.mask)


def _chunk_adapters(item: Pass, chunk: Sequence[WorkingToken]) -> list[AdapterUse] | None:
    """What the tokens of a chunk are computed with. The last input tells: only what was pending before has none."""
    if not item.inputs[-1].adapter:
        return None
    return [(record.adapter, record.adapter_version, record.zo_seed) for record in chunk]


def _chunk_masks(chunk: Sequence[WorkingToken], first_slot: int) -> list[Brle] | None:
    """The rows of a chunk that begins at `first_slot`; None when every one of them is plain causal."""
    if all(record.mask is None for record in chunk):
        return None
    return [row_runs(record.mask, first_slot + index) for index, record in enumerate(chunk)]


def take_result(store: PageStore, item: Pass, count: int, result: WorkResult) -> int:
    """A chunk is computed: its tokens are in KV, its readings in the pass. A failed one fails the whole pass.

    Answers how many pages were committed that the context had to compute (M10).
    """
    if isinstance(result, BatchFailedError):
        item.fail(result)
        return 0
    for (place, _), value in zip(item.reads_within(count), result, strict=True):
        item.results[place] = value
    if not item.replay:
        store.append(item.context.id, item.inputs[item.cursor : item.cursor + count])
    item.cursor += count
    if item.remaining:
        return 0
    if item.window is not None:
        _take_back(store, item, item.window)
    made = store.commit_full(item.context.id).computed if item.commits else 0
    item.finish()
    return made


def _take_back(store: PageStore, item: Pass, window: Window) -> None:
    """Rejected drafts leave KV, and their pages the context, before anything is committed (V3)."""
    context = item.context.id
    store.truncate(context, item.rejected())
    counters = store.counters(context)
    unused = counters.working - pages_for(counters.working_tokens, store.page_size)
    store.release_working(context, min(window.extra_pages, unused))


def fail_all(items: Iterable[Pass], error: BatchFailedError) -> None:
    """A batch failed: every program with rows in it is told (E4)."""
    for item in items:
        item.fail(BatchFailedError(error.message, hint=error.hint, cause=error.cause))
