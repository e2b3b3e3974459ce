"""Gathers contexts that want guesses of the model's draft head, and computes them all at once."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass

from pie_mlx.engine.model.loaded import HeadModel
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.model.runner.hidden_trail import HiddenTrail
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.speculation.company import Company
from pie_mlx.engine.speculation.draft_head.books import HeadBooks, Pairs, Read
from pie_mlx.engine.speculation.draft_head.writing import HeadRow, write
from pie_mlx.engine.speculation.draft_model import DraftSequences, Guesses
from pie_mlx.engine.speculation.drafting import Allowance, GuessRates, Lately
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal.faults import DEVICE_ERRORS

FEW = 8
"""Pairs of a context in a plain step; more are of a prompt, or of text written without guesses."""

PLAIN_EVERY = 64
"""Passes that guesses pay for, after which some steps are plain: what these take would be forgotten otherwise."""


@dataclass(frozen=True, slots=True)
class HeadGuess:
    """At most `most` guesses at what follows `token`, which comes after the `held` tokens of a context.

    `read(count)` answers the last `count` of these; `trail` has hidden states of them. The guesses are drawn as the
    pass will draw, which reads `drawn`.
    """

    context: int
    held: int
    token: int
    read: Read
    trail: HiddenTrail
    most: int
    drawn: LogitsRequest


@dataclass(frozen=True, slots=True)
class _Waiting:
    guess: HeadGuess
    pairs: Pairs
    done: "asyncio.Future[Guesses]"


class DraftHeadRunner:
    """Guesses for contexts with the model's own head.

    The books are kept on the engine's loop; the steps run on the one MLX thread, between the engine's own batches.
    """

    def __init__(self, runner: Runner, head: HeadModel) -> None:
        self._runner, self._head = runner, head
        self.allowance, self.rates = Allowance(), GuessRates()
        pool = head.model.pool
        self.books = HeadBooks(DraftSequences(pool.pages, pool.page_size))
        self._waiting: dict[int, _Waiting] = {}
        self._in_step: set[int] = set()
        self._company = Company()
        self._seconds: dict[int, Lately] = {}
        self._pair_seconds = Lately()
        self._asked = 0
        self._task: asyncio.Task[None] | None = None

    async def guess(self, guess: HeadGuess) -> Guesses:
        """What the head thinks comes next; nothing where what it needs was not kept, or where pages lack.

        Raises BatchFailedError when it fails on the device, for every context in that step (E4).
        """
        pairs = self._pairs(guess)
        if pairs is None:
            self._company.decline(guess.context)
            return Guesses([])
        done: asyncio.Future[Guesses] = asyncio.get_running_loop().create_future()
        mine = self._waiting[guess.context] = _Waiting(guess, pairs, done)
        self._company.joined()
        if self._task is None:
            self._task = asyncio.create_task(self._serve(), name="pie-draft-head")
        try:
            return await done
        finally:
            if self._waiting.get(guess.context) is mine:
                del self._waiting[guess.context]

    def seconds(self, guesses: int) -> float | None:
        """What a step of so many guesses takes lately; None before it was measured several times."""
        trusted = [count for count, lately in self._seconds.items() if lately.trusted]
        if not trusted:
            return None
        known = min(trusted, key=lambda count: abs(count - guesses))
        return (self._seconds[known].median or 0.0) * (1 + guesses) / (1 + known)

    def reading_seconds(self, pairs: int) -> float:
        """What reading so many pairs before a guess takes; a few of them are part of any step."""
        return 0.0 if pairs <= FEW else pairs * (self._pair_seconds.median or 0.0)

    def wants_plain(self) -> bool:
        """Whether the pass of which this is asked is to be plain, with some after it."""
        self._asked += 1
        return self._asked % PLAIN_EVERY == 0

    def decline(self, context: int) -> None:
        """The context goes on without guesses this time: the others need not wait for it."""
        self._company.decline(context)

    def fork(self, source: int, target: int) -> None:
        """A context was forked."""
        if source not in self._in_step:
            self.books.fork(source, target)

    def forget(self, context: int) -> None:
        """A context is released."""
        if context in self._in_step:
            self.books.drop(context)
        else:
            self.books.leave(context)
        self.decline(context)

    async def stop(self) -> None:
        """End after the step that is running."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _pairs(self, guess: HeadGuess) -> Pairs | None:
        if guess.context in self._in_step or guess.most < 1:
            return None
        pairs = self.books.follow(guess.context, guess.held, guess.token, guess.read, guess.trail.take())
        if not pairs.places or pairs.places[-1] != guess.held - 1:
            return None
        room = self._head.model.maximum_positions - guess.held
        busy = {*self._waiting, *self._in_step}
        enough = room >= guess.most and self.books.reserve(guess.context, len(pairs.places), busy)
        return pairs if enough else None

    async def _serve(self) -> None:
        """Until none waits."""
        try:
            await self._company.gather(self._waiting, self.seconds(1) or 0.0)
            took_part: set[int] = set()
            while self._waiting:
                took_part.update(self._waiting)
                await self._step(list(self._waiting.values()))
            self._company.expect(took_part)
        finally:
            self._task = None

    async def _step(self, items: Sequence[_Waiting]) -> None:
        self._in_step = {item.guess.context for item in items}
        self._waiting.clear()
        started = time.perf_counter()
        try:
            rows = [self._row(item) for item in items]
            drawn = await self._runner.call(lambda: write(self._head, rows))
        except Exception as error:
            cause = str(error) if isinstance(error, DEVICE_ERRORS) else f"{type(error).__name__}: {error}"
            for item in items:
                self._fail(item, cause)
            return
        except asyncio.CancelledError:
            for item in items:
                item.done.cancel()
            raise
        finally:
            self._in_step = set()
        self._measure(items, time.perf_counter() - started)
        each = (self.seconds(max(item.guess.most for item in items)) or 0.0) / len(items)
        for item, tokens in zip(items, drawn, strict=True):
            if item.guess.context in self.books:
                self.books.append(item.guess.context, item.pairs)
            if not item.done.done():
                item.done.set_result(Guesses(tokens, each + self.reading_seconds(len(item.pairs.places))))

    def _measure(self, items: Sequence[_Waiting], seconds: float) -> None:
        most = max(item.guess.most for item in items)
        pairs = [len(item.pairs.places) for item in items]
        if max(pairs) <= FEW:
            self._seconds.setdefault(most, Lately()).add(seconds)
        else:
            guessing = self.seconds(most) or 0.0
            self._pair_seconds.add(max(0.0, seconds - guessing) / sum(count for count in pairs if count > FEW))

    def _row(self, item: _Waiting) -> HeadRow:
        context, sequences = item.guess.context, self.books.sequences
        first, slots = sequences.length(context), sequences.next_slots(context, len(item.pairs.places))
        table = sequences.table(context)
        return HeadRow(item.pairs, first, slots, table, item.guess.most, item.guess.drawn)

    def _fail(self, item: _Waiting, cause: str) -> None:
        self.books.drop(item.guess.context)
        if not item.done.done():
            item.done.set_exception(
                BatchFailedError(
                    f"draft head: its step failed on the device: {cause}",
                    hint="generate without speculation, or start with draft_head = false",
                    cause=cause,
                )
            )
