"""From the plan's chunks to the runner's batch, and from its results back to the passes."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from pie_mlx.calls import AnyResult, AttentionScores, Brle
from pie_mlx.engine.kv import PageStore, Rows
from pie_mlx.engine.kv.contexts.working import pages_for
from pie_mlx.engine.kv.masks import row_runs
from pie_mlx.engine.model.networks.states import RecurrentStates
from pie_mlx.engine.model.runner.batch import BatchEntry, EntryResult, LogitsRequest, Outcome, last_drawn
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.scheduler.forward_task import MOST_STEPS, ForwardTask, PassContinuation
from pie_mlx.engine.scheduler.tick_state import TickState
from pie_mlx.engine.speculation.drafting import Window
from pie_mlx.errors import BatchFailedError

Chunks = Sequence[tuple[ForwardTask, int]]
"""Passes of a batch, each with how many of its inputs run."""


def chunk_entry(store: PageStore, task: ForwardTask, count: int, further: int = 0) -> BatchEntry:
    """The next `count` inputs of a pass as rows of a batch, which `further` steps may follow."""
    context = task.context.id
    rows = _replayed_rows(store, task, count) if task.replay else store.working.rows(context, count + further)
    # By columns, as one step of every stream in a batch comes through here between two passes of the device.
    tokens, positions, masks, *origins = zip(*task.inputs[task.cursor : task.cursor + count], strict=True)
    return BatchEntry(
        context=context,
        tokens=tokens,
        positions=positions,
        slots=rows.slots[:count],
        block_table=rows.block_table,
        kv_length=rows.first + count,
        masks=None if masks.count(None) == count else _chunk_masks(masks, rows.first),
        reads=_chunk_reads(task, count),
        adapters=list(zip(*origins, strict=True)) if task.has_adapter else None,
        further_slots=rows.slots[count:],
        drafts=min(count, max(0, task.drafts - task.remaining + count)) if task.window else 0,
        scored=task.scored and any([isinstance(read.read, AttentionScores) for _, read in task.reads_within(count)]),
        trail=None if task.replay else task.context.trail,
    )


def further_steps(state: TickState, chunks: Chunks, left: float) -> int:
    """How many steps may follow a batch at once, if there are pages for them: none while others have work, and no more
    than fit into the turn, which has time for `left` steps: one that is built for later would be dropped."""
    working = len(list(filter(state.has_turn, state.working())))
    if not chunks or working > len(chunks):
        return 0
    steps = max(0, round(min(left, MOST_STEPS + 1)) - 1)
    for task, count in chunks:
        if task.continuation is None or count < task.remaining:
            return 0
        steps = min(steps, task.continuation.count)
    return steps


def reserve_further(store: PageStore, chunks: Sequence[tuple[ForwardTask, int]], steps: int) -> bool:
    """Reserve the pages for `steps` steps after the passes, if there are enough."""
    lacking = [store.working.lacking(task.context.id, count + steps) for task, count in chunks]
    if sum(lacking) > store.pool.available():
        return False
    for (task, _), pages in zip(chunks, lacking, strict=True):
        if task.continuation is not None and pages:
            store.working.reserve(task.context.id, pages)
            task.continuation.extra_pages += pages
    return True


def _replayed_rows(store: PageStore, task: ForwardTask, count: int) -> Rows:
    """The slots that the next inputs of a replay are written to again. Tokens whose KV is there already are written to
    the page after the pool's last one, which no context reads."""
    size, table = store.page_size, store.contexts.resident(task.context.id).block_table
    first, written, unread = task.first_slot + task.cursor, task.written, store.pool.capacity
    pages = ((slot // size, slot % size) for slot in range(first, first + count))
    slots = [(table[page] if written is None or page in written else unread) * size + offset for page, offset in pages]
    return Rows(first, slots, table[: pages_for(first + count, size)])


def _chunk_reads(task: ForwardTask, count: int) -> tuple[LogitsRequest, ...]:
    if task.runs_whole(count):
        return tuple(task.reads)
    start = task.cursor
    return tuple(
        LogitsRequest(read.index - start, read.read, read.stream, read.counter, read.mask, read.counts, read.watch)
        for _, read in task.reads_within(count)
    )


def _chunk_masks(masks: Sequence[bytes | None], first_slot: int) -> list[Brle]:
    """The rows of a chunk that begins at `first_slot`."""
    return [row_runs(mask, first_slot + index) for index, mask in enumerate(masks)]


def take_result(
    store: PageStore, recurrence: RecurrentStates | None, task: ForwardTask, count: int, result: EntryResult
) -> int:
    """Give the result of a computed chunk to its pass, and count its tokens as being in KV and in recurrent states.

    A failed chunk fails the whole pass, and so does one whose result cannot be kept: its call rolls it back, while the
    other passes of the batch go on. Returns how many pages were committed that the context had to compute (M10).
    """
    if isinstance(result, BatchFailedError):
        task.fail(result)
        return 0
    try:
        return _keep(store, recurrence, task, count, result)
    except Exception as error:
        task.fail(_lost(error))
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
    store: PageStore, recurrence: RecurrentStates | None, task: ForwardTask, count: int, result: Sequence[AnyResult]
) -> int:
    if not task.replay:
        store.working.append(task.context.id, task.inputs[task.cursor : task.cursor + count])
    task.record(count, result)
    if task.remaining:
        return 0
    if task.window is not None:
        _take_back(store, task, task.window)
    if task.continuation is not None:
        _commit_further(store, task, task.continuation)
    if recurrence is not None and (task.window or task.continuation):
        recurrence.seek(task.context.id, store.sequence_length(task.context.id))
    made = store.working.commit_full(task.context.id).computed if task.commits else 0
    task.finish()
    return made


def _take_back(store: PageStore, task: ForwardTask, window: Window) -> None:
    """Rejected drafts leave KV, and their pages the context, before anything is committed (V3)."""
    store.working.truncate(task.context.id, task.rejected())
    _release_unused(store, task.context.id, window.extra_pages)


def _commit_further(store: PageStore, task: ForwardTask, continuation: PassContinuation) -> None:
    """The tokens of further steps are in KV, but for the last one."""
    if kept := continuation.committed(task.inputs[-1], task.in_order()):
        store.working.append(task.context.id, kept)
    _release_unused(store, task.context.id, continuation.extra_pages)


def _release_unused(store: PageStore, context: int, most: int) -> None:
    if most:
        counters = store.contexts[context].counters()
        unused = counters.working - pages_for(counters.working_tokens, store.page_size)
        store.working.release(context, min(most, unused))


def fail_all(tasks: Iterable[ForwardTask], error: BatchFailedError) -> None:
    """A batch failed: every program with rows in it gets the error (E4)."""
    for task in tasks:
        task.fail(BatchFailedError(error.message, hint=error.hint, cause=error.cause))


class Claims:
    """The step in flight after a batch: a row of each stream that will most likely go on with what it drew.

    A program that goes on with that token claims its row, and reads it as it wants, whatever sampler, mask or probe it
    asks for. Rows that the next batch does not claim are dropped.
    """

    def __init__(self, state: TickState, runner: Runner, *, enabled: bool) -> None:
        self._state, self._runner, self._enabled = state, runner, enabled
        self._in_flight: dict[int, BatchEntry] = {}
        self.dropped = 0
        """Steps in flight that the latest batch did not claim."""

    def with_slots(self, chunks: Chunks, entries: tuple[BatchEntry, ...], *, ends: bool) -> tuple[BatchEntry, ...]:
        """`entries`, with one more slot for those whose next step may be in flight after the batch.

        No entry gets one while other contexts wait, or while a prompt needs the next batch for its rest: a batch of all
        contexts is worth more than an early one. Neither if a turn `ends` with the batch: the next one is another
        user's.
        """
        state = self._state
        state.store.pool.pop_displaced()
        if not self._enabled or ends or state.requests or state.restorations or self._others_wait(len(entries)):
            return entries
        if not self._runner.model.follows or any([count < task.remaining for task, count in chunks]):
            return entries
        pairs = zip(chunks, entries, strict=True)
        found = [self._with_slot(entry) if _will_go_on(task, entry) else entry for (task, _), entry in pairs]
        if state.gangs:
            whole = self._whole_gangs(entries, [new is not entry for new, entry in zip(found, entries, strict=True)])
            found = [new if goes_on else entry for new, entry, goes_on in zip(found, entries, whole, strict=True)]
        return tuple(found)

    def _whole_gangs(self, entries: Sequence[BatchEntry], chosen: Sequence[bool]) -> list[bool]:
        """Which of the `chosen` entries are alone or belong to a gang that is chosen as a whole."""
        gangs = [self._state.together(self._state.contexts[entry.context])[0].id for entry in entries]
        broken = {gang for gang, goes_on in zip(gangs, chosen, strict=True) if not goes_on}
        return [gang not in broken for gang in gangs]

    def _others_wait(self, entries: int) -> bool:
        state = self._state
        waiting = state.passes if state.turn is None else list(filter(state.has_turn, state.passes))
        return len(waiting) > entries

    def _with_slot(self, entry: BatchEntry) -> BatchEntry:
        store, length = self._state.store, entry.kv_length + len(entry.further_slots)
        table = store.working.table_for(entry.context, length + 1)
        if table is None:
            return entry
        page, offset = divmod(length, store.page_size)
        slots = [*entry.further_slots, table[page] * store.page_size + offset]
        return replace(entry, block_table=table, further_slots=slots)

    def learn(self, chunks: Chunks, entries: Sequence[BatchEntry], outcome: Outcome) -> None:
        """The batch is computed. Notes which token each stream would go on with, and which steps are in flight."""
        self._in_flight = {entry.context: entry for entry in outcome.in_flight}
        for (task, _), entry, result in zip(chunks, entries, outcome.results, strict=True):
            tokens = last_drawn(result) if task.draws_next and not task.remaining else []
            task.context.next_input = (entry.kv_length + outcome.steps, tokens[0]) if tokens else None

    def claim(self, entries: Sequence[BatchEntry]) -> list[bool]:
        """Which of `entries`, the next batch, are in flight. Steps that are not claimed now are dropped."""
        in_flight, self._in_flight = self._in_flight, {}
        launched = len(in_flight)
        for displaced in self._state.store.pool.pop_displaced():
            in_flight.pop(displaced, None)
        claimed = [self._goes_on(entry) and _is_same(in_flight.get(entry.context), entry) for entry in entries]
        if self._state.gangs:
            claimed = self._whole_gangs(entries, claimed)
        self.dropped = launched - sum(claimed)
        return claimed

    def _goes_on(self, entry: BatchEntry) -> bool:
        """Whether the context goes on with the token that it drew, as a stream does; notes that on the context."""
        context = self._state.contexts[entry.context]
        if context.next_input is not None:
            context.streaming = context.next_input == (entry.kv_length, *entry.tokens)
        return context.streaming


def _will_go_on(task: ForwardTask, entry: BatchEntry) -> bool:
    """Whether the program of a pass will most likely ask for the token after those that it and the steps after it
    draw."""
    ends = task.continuation is not None and len(entry.further_slots) >= task.continuation.wanted
    return task.context.streaming and task.draws_next and not ends


def _is_same(row: BatchEntry | None, entry: BatchEntry) -> bool:
    """Whether `entry` is in flight. Where its committed pages lie does not matter: their content is the same."""
    return (
        row is not None
        and list(entry.tokens) == list(row.tokens)
        and list(entry.positions) == list(row.positions)
        and list(entry.slots) == list(row.slots)
        and entry.kv_length == row.kv_length
        and entry.masks is None
        and entry.adapters == row.adapters
        and not entry.scored
    )
