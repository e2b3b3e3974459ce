"""What is computed before it is asked for, and which of it the next batch claims."""

from collections.abc import Sequence

from msgspec.structs import replace

from pie_mlx.calls import Sampler
from pie_mlx.engine.model.runner.batch import Outcome, ScheduledTokens, last_drawn
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.scheduler.forward_task import ForwardTask
from pie_mlx.engine.scheduler.tick_state import TickState

Chunks = Sequence[tuple[ForwardTask, int]]
"""Passes of a batch, each with how many of its inputs run."""


class Claims:
    """The step in flight behind a batch: a row of each stream that will most likely go on with what it drew.

    A program that goes on with that token claims its row, and reads it as it wants, whatever sampler, mask or probe it
    asks for. Rows that the next batch does not claim are dropped.
    """

    def __init__(self, state: TickState, runner: Runner, *, enabled: bool) -> None:
        self._state, self._runner, self._enabled = state, runner, enabled
        self._in_flight: dict[int, ScheduledTokens] = {}

    def with_slots(self, chunks: Chunks, works: tuple[ScheduledTokens, ...]) -> tuple[ScheduledTokens, ...]:
        """`works` with a slot more for those that may be in flight behind the batch.

        None while others wait, or want the next batch for the rest of a prompt: a batch that holds everybody is worth
        more than one that is early.
        """
        state = self._state
        state.store.pool.take_displaced()
        if not self._enabled or state.requests or state.restorations or len(state.passes) > len(works):
            return works
        if not self._runner.model.follows or any(count < item.remaining for item, count in chunks):
            return works
        pairs = zip(chunks, works, strict=True)
        return tuple(self._with_slot(work) if _will_go_on(item, work) else work for (item, _), work in pairs)

    def _with_slot(self, work: ScheduledTokens) -> ScheduledTokens:
        store, length = self._state.store, work.kv_length + len(work.further_slots)
        table = store.working.table_for(work.context, length + 1)
        if table is None:
            return work
        page, offset = divmod(length, store.page_size)
        slots = [*work.further_slots, table[page] * store.page_size + offset]
        return replace(work, block_table=table, further_slots=slots)

    def learn(self, chunks: Chunks, works: Sequence[ScheduledTokens], outcome: Outcome) -> None:
        """The batch is computed: what its streams would go on with, and whose next token is in flight."""
        self._in_flight = {work.context: work for work in outcome.in_flight}
        for (item, _), work, result in zip(chunks, works, outcome.results, strict=True):
            tokens = last_drawn(result) if _draws_next(item, work) else []
            item.context.next_input = (work.kv_length + outcome.steps, tokens[0]) if tokens else None

    def claim(self, works: Sequence[ScheduledTokens]) -> list[bool]:
        """Decides the next batch: which of `works` are in flight. What is not claimed now is dropped."""
        in_flight, self._in_flight = self._in_flight, {}
        for displaced in self._state.store.pool.take_displaced():
            in_flight.pop(displaced, None)
        return [self._goes_on(work) and _is_same(in_flight.get(work.context), work) for work in works]

    def _goes_on(self, work: ScheduledTokens) -> bool:
        """Whether a stream goes on with the token it drew. Notes whether it is one."""
        context = self._state.contexts[work.context]
        if context.next_input is not None:
            context.streaming = context.next_input == (work.kv_length, *work.tokens)
        return context.streaming


def _will_go_on(item: ForwardTask, work: ScheduledTokens) -> bool:
    """Whether the program of a pass will most likely ask for the token behind the one that it draws."""
    ends = item.continuation is not None and item.continuation.ends_text
    return item.context.streaming and not ends and not item.drafts and _draws_next(item, work)


def _draws_next(item: ForwardTask, work: ScheduledTokens) -> bool:
    """Whether one token is drawn in the pass, from its last input."""
    if not item.commits or item.replay:
        return False
    drawn = [(read.index, read.read.draws) for read in work.reads if isinstance(read.read, Sampler)]
    drawing = sum(isinstance(read.read, Sampler) for read in item.reads)
    return drawing == 1 and drawn == [(len(work.tokens) - 1, 1)]


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
