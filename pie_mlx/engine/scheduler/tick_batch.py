"""From the plan's chunks to the runner's batch, and from its results back to the passes."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from pie_mlx.calls import AnyResult, Brle
from pie_mlx.engine.kv import PageStore, Rows
from pie_mlx.engine.kv.contexts.working import pages_for
from pie_mlx.engine.kv.masks import row_runs
from pie_mlx.engine.model.networks.states import RecurrentStates
from pie_mlx.engine.model.runner.batch import LogitsRequest, Outcome, ScheduledTokens, WorkResult, last_drawn
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.scheduler.forward_task import ForwardTask, FurtherSteps
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.engine.speculation.drafting import Window
from pie_mlx.errors import BatchFailedError

Chunks = Sequence[tuple[ForwardTask, int]]
"""Passes of a batch, each with how many of its inputs run."""


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
        drafts=min(count, max(0, item.drafts - item.remaining + count)) if item.window else 0,
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
    """The slots that the next inputs of a replay are written to again; what is there already goes to the page behind
    the pool's last one, which no context reads."""
    size, table = store.page_size, store.contexts.resident(item.context.id).block_table
    first, written, unread = item.first_slot + item.cursor, item.written, store.pool.capacity
    pages = ((slot // size, slot % size) for slot in range(first, first + count))
    slots = [(table[page] if written is None or page in written else unread) * size + offset for page, offset in pages]
    return Rows(first, slots, table[: pages_for(first + count, size)])


def _chunk_reads(item: ForwardTask, count: int) -> tuple[LogitsRequest, ...]:
    if item.runs_whole(count):
        return tuple(item.reads)
    start = item.cursor
    return tuple(
        LogitsRequest(read.index - start, read.read, read.stream, read.counter, read.mask, read.counts)
        for _, read in item.reads_within(count)
    )


def _chunk_masks(masks: Sequence[bytes | None], first_slot: int) -> list[Brle]:
    """The rows of a chunk that begins at `first_slot`."""
    return [row_runs(mask, first_slot + index) for index, mask in enumerate(masks)]


def take_result(
    store: PageStore, recurrence: RecurrentStates | None, item: ForwardTask, count: int, result: WorkResult
) -> int:
    """A chunk is computed: its tokens are in KV and in what recurrent layers remember, its readings in the pass. A
    failed one fails the whole pass.

    So does one that cannot be kept: its call rolls it back, the others of the batch go on.

    Answers how many pages were committed that the context had to compute (M10).
    """
    if isinstance(result, BatchFailedError):
        item.fail(result)
        return 0
    try:
        return _keep(store, recurrence, item, count, result)
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


def _keep(
    store: PageStore, recurrence: RecurrentStates | None, item: ForwardTask, count: int, result: Sequence[AnyResult]
) -> int:
    if not item.replay:
        store.working.append(item.context.id, item.inputs[item.cursor : item.cursor + count])
    item.take(count, result)
    if item.remaining:
        return 0
    if item.window is not None:
        _take_back(store, item, item.window)
    if item.continuation is not None:
        _commit_further(store, item, item.continuation)
    if recurrence is not None and (item.window or item.continuation):
        recurrence.seek(item.context.id, store.sequence_length(item.context.id))
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
    """A batch failed: every program with rows in it gets the error (E4)."""
    for item in items:
        item.fail(BatchFailedError(error.message, hint=error.hint, cause=error.cause))


class Claims:
    """The step in flight behind a batch: a row of each stream that will most likely go on with what it drew.

    A program that goes on with that token claims its row, and reads it as it wants, whatever sampler, mask or probe it
    asks for. Rows that the next batch does not claim are dropped.
    """

    def __init__(self, state: TickState, runner: Runner, *, enabled: bool) -> None:
        self._state, self._runner, self._enabled = state, runner, enabled
        self._in_flight: dict[int, ScheduledTokens] = {}

    def with_slots(self, chunks: Chunks, works: tuple[ScheduledTokens, ...]) -> tuple[ScheduledTokens, ...]:
        """`works`, with a slot more for those whose next step may be in flight behind the batch.

        None while others wait, or a prompt needs the next batch for its rest: a batch with all contexts is worth more
        than an early one.
        """
        state = self._state
        state.store.pool.pop_displaced()
        if not self._enabled or state.requests or state.restorations or len(state.passes) > len(works):
            return works
        if not self._runner.model.follows or any([count < item.remaining for item, count in chunks]):
            return works
        pairs = zip(chunks, works, strict=True)
        return tuple([self._with_slot(work) if _will_go_on(item) else work for (item, _), work in pairs])

    def _with_slot(self, work: ScheduledTokens) -> ScheduledTokens:
        store, length = self._state.store, work.kv_length + len(work.further_slots)
        table = store.working.table_for(work.context, length + 1)
        if table is None:
            return work
        page, offset = divmod(length, store.page_size)
        slots = [*work.further_slots, table[page] * store.page_size + offset]
        return replace(work, block_table=table, further_slots=slots)

    def learn(self, chunks: Chunks, works: Sequence[ScheduledTokens], outcome: Outcome) -> None:
        """The batch is computed. Notes which token each stream would go on with, and which steps are in flight."""
        self._in_flight = {work.context: work for work in outcome.in_flight}
        for (item, _), work, result in zip(chunks, works, outcome.results, strict=True):
            tokens = last_drawn(result) if item.draws_next and not item.remaining else []
            item.context.next_input = (work.kv_length + outcome.steps, tokens[0]) if tokens else None

    def claim(self, works: Sequence[ScheduledTokens]) -> list[bool]:
        """Which of `works`, the next batch, are in flight. Steps that are not claimed now are dropped."""
        in_flight, self._in_flight = self._in_flight, {}
        for displaced in self._state.store.pool.pop_displaced():
            in_flight.pop(displaced, None)
        return [self._goes_on(work) and _is_same(in_flight.get(work.context), work) for work in works]

    def _goes_on(self, work: ScheduledTokens) -> bool:
        """Whether a stream goes on with the token it drew. Notes whether it is one."""
        context = self._state.contexts[work.context]
        if context.next_input is not None:
            context.streaming = context.next_input == (work.kv_length, *work.tokens)
        return context.streaming


def _will_go_on(item: ForwardTask) -> bool:
    """Whether the program of a pass will most likely ask for the token behind the one that it draws."""
    ends = item.continuation is not None and item.continuation.ends_text
    return item.context.streaming and item.draws_next and not ends


def _is_same(row: ScheduledTokens | None, work: ScheduledTokens) -> bool:
    """Whether `work` is what is in flight. Where its committed pages lie does not matter: their content is the same."""
    return (
        row is not None
        and list(work.tokens) == list(row.tokens)
        and list(work.positions) == list(row.positions)
        and list(work.slots) == list(row.slots)
        and work.kv_length == row.kv_length
        and work.masks is None
        and work.adapters == row.adapters
    )
