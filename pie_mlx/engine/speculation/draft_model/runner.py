"""Gathers draft requests and lets the draft model write for all of them at once."""

import asyncio
import time
from collections.abc import Sequence

import mlx.core as mx

from pie_mlx.calls import SampledTokens
from pie_mlx.engine.model.loaded import LoadedModel
from pie_mlx.engine.model.runner.batch import BatchEntry, EntryResult, step_input
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.model.runner.sampling import Sampling
from pie_mlx.engine.speculation.company import Company
from pie_mlx.engine.speculation.draft_model.guess import Guess, Guesses, Writing
from pie_mlx.engine.speculation.draft_model.sequences import DraftSequences
from pie_mlx.engine.speculation.drafting import Allowance, Lately
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal.faults import DEVICE_ERRORS

STEP_TOKENS = 512
"""Tokens of one step of the draft model: the other batches wait no longer than these take."""

MOST_PLAIN = 2
"""Tokens of a context in a plain step: the last guess was never read, so two are pending when all were right."""

Chunks = Sequence[tuple[Writing, int]]
"""Who takes part in a step, each with how many of its pending tokens are read."""


class DraftModelRunner:
    """Guesses for contexts, in steps they share: first what the draft model has not seen of them, then token by token.

    Everything but the steps themselves happens on the engine's loop; these run on the one MLX thread, between the
    engine's own batches. `vocabulary_size` is that of the large model: ids beyond it are never guessed. Guesses need
    not be right, so nothing of a context waits here for pages.
    """

    def __init__(self, runner: Runner, model: LoadedModel, *, vocabulary_size: int) -> None:
        self._runner, self.model = runner, model
        self._vocabulary_size = min(vocabulary_size, model.vocabulary_size)
        self.allowance = Allowance()
        self._recurrence = model.network.recurrence
        states = self._recurrence if model.recurrent else None
        self.sequences = DraftSequences(model.pool.pages, model.pool.page_size, states)
        self._writing: dict[int, Writing] = {}
        self._in_step: set[int] = set()
        self._company = Company()
        self._plain = Lately()
        self._task: asyncio.Task[None] | None = None

    async def guess(self, guess: Guess) -> Guesses:
        """What the draft model thinks comes next; nothing where it has no room for the context, or still computes what
        an earlier call of it gave up.

        Raises BatchFailedError when it fails on the device, for every context in that step (E4).
        """
        if guess.context in self._in_step:
            self.decline(guess.context)
            return Guesses([])
        pending = self.sequences.follow(guess.context, guess.held, guess.inputs, guess.read)
        if max(pending) >= self.model.vocabulary_size or guess.most < 1:
            self.decline(guess.context)
            return Guesses([])
        done: asyncio.Future[Guesses] = asyncio.get_running_loop().create_future()
        mine = self._writing[guess.context] = Writing(guess, pending, done, guess.first)
        self._company.joined()
        if self._task is None:
            self._task = asyncio.create_task(self._write(), name="pie-drafts")
        try:
            return await done
        finally:
            if self._writing.get(guess.context) is mine:
                del self._writing[guess.context]

    def decline(self, context: int) -> None:
        """The context goes on without guesses this time: the others need not wait for it."""
        self._company.decline(context)

    def forget(self, context: int) -> None:
        """A context is released."""
        self.sequences.drop(context)
        self.decline(context)

    async def stop(self) -> None:
        """End after the step that is running."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _write(self) -> None:
        """Until there is nothing left to write."""
        try:
            await self._company.gather(self._writing, self._plain.median or 0.0)
            took_part: set[int] = set()
            while self._writing:
                took_part.update(self._writing)
                await self._step()
            self._company.expect({context for context in took_part if context in self.sequences})
        except Exception as error:
            self._fail(list(self._writing.values()), f"{type(error).__name__}: {error}")
            raise
        finally:
            self._task = None

    async def _step(self) -> None:
        chunks = self._chunks()
        if not chunks:
            return
        entries = [self._entry(item, count) for item, count in chunks]
        self._in_step = {entry.context for entry in entries}
        try:
            results, seconds = await self._runner.call(lambda: self._compute(entries))
        except DEVICE_ERRORS as error:
            self._fail([item for item, _ in chunks], str(error))
            return
        finally:
            self._in_step = set()
        if all(count <= MOST_PLAIN for _, count in chunks):
            self._plain.add(seconds)
        share = (self._plain.median or 0.0) / len(chunks)
        for (item, count), result in zip(chunks, results, strict=True):
            self._take(item, count, result, share)

    def _chunks(self) -> Chunks:
        """Whose pending tokens are read next. Who has no room, in the pool or in the model's positions, is done."""
        chunks: list[tuple[Writing, int]] = []
        left = STEP_TOKENS
        for context, item in list(self._writing.items()):
            count = min(len(item.pending), left)
            if self.sequences.length(context) + len(item.pending) > self.model.maximum_positions:
                self._finish(item)
            elif count and self.sequences.reserve(context, count, self._writing):
                chunks.append((item, count))
                left -= count
            elif count:
                self._finish(item)
        return chunks

    def _entry(self, item: Writing, count: int) -> BatchEntry:
        context, books = item.guess.context, self.sequences
        first = books.length(context)
        return BatchEntry(
            context=context,
            tokens=item.pending[:count],
            positions=list(range(first, first + count)),
            slots=books.next_slots(context, count),
            block_table=books.table(context)[: -(-(first + count) // books.page_size)],
            kv_length=first + count,
            reads=item.reads(count),
        )

    def _compute(self, entries: Sequence[BatchEntry]) -> tuple[list[EntryResult], float]:
        """On the MLX thread."""
        try:
            return self.model.attempt(lambda: self._computed(entries), lambda: None)
        except DEVICE_ERRORS:
            self.model.recover()
            raise

    def _computed(self, entries: Sequence[BatchEntry]) -> tuple[list[EntryResult], float]:
        started = time.perf_counter()
        step, reads, inputs = step_input(entries)
        logits = self.model.forward(step)
        if not step.logit_rows:
            self._end_step()
            return [[] for _ in entries], time.perf_counter() - started
        reading = Sampling(
            logits[:, : self._vocabulary_size].astype(mx.float32),
            reads,
            inputs=inputs,
        )
        self._end_step(*reading.outputs)
        return reading.collect(), time.perf_counter() - started

    def _end_step(self, *outputs: mx.array) -> None:
        """The end of a step. Guesses may be wrong: its contexts may return to where it began."""
        self.model.compute(*outputs)
        self._recurrence.commit(keeps=True)

    def _take(self, item: Writing, count: int, result: EntryResult, seconds: float) -> None:
        """A step is done. A context that does not wait any more has given up, and may be gone."""
        context = item.guess.context
        if self._writing.get(context) is not item:
            if context not in self.sequences:
                self._recurrence.put(context, None)
            return
        if isinstance(result, BatchFailedError):
            self._fail([item], result.cause)
            return
        self.sequences.append(context, item.pending[:count])
        drawn = [token for value in result if isinstance(value, SampledTokens) for token in value.tokens]
        item.record(count, drawn, seconds)
        if item.row is None:
            self._finish(item)

    def _finish(self, item: Writing) -> None:
        item.finish()
        self._writing.pop(item.guess.context, None)

    def _fail(self, items: Sequence[Writing], cause: str) -> None:
        for item in items:
            context = item.guess.context
            if self._writing.get(context) is item:
                del self._writing[context]
                self.sequences.drop(context)
            if not item.done.done():
                item.done.set_exception(
                    BatchFailedError(
                        f"draft model: its step failed on the device: {cause}",
                        hint="generate without system_speculation, or start without draft_model",
                        cause=cause,
                    )
                )
