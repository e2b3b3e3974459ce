"""Texts that wait for an encoder, and the pieces in which they are computed between other work of the device."""

import asyncio
import itertools
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pie_mlx.engine.embedding.batches import ByLength, PieceSize, neighbours
from pie_mlx.engine.model.encoders.encoder import Encoder, EncoderInput, Reading, Rows
from pie_mlx.engine.model.runner.runner import Runner
from pie_mlx.engine.scheduler.device_turns import DeviceTurns
from pie_mlx.errors import BatchFailedError
from pie_mlx.metal.faults import one_line


@dataclass(slots=True, eq=False)
class _Order:
    """Texts that were asked for together. `rows` are those that are computed, by place."""

    reading: Reading
    rows: list[Rows | None]
    missing: int
    done: "asyncio.Future[None]"


@dataclass(frozen=True, slots=True, eq=False)
class _Text:
    user: str
    order: _Order
    place: int
    input: EncoderInput


class EncoderQueue:
    """Computes texts of one encoder in pieces, one at a time: what else the device has to do has its turn in between.

    A piece begins with the text that a user has waited for longest, of each user in turn, and takes texts of about
    its length with it, whose ever they are. It belongs to the engine's loop.
    """

    def __init__(
        self,
        runner: Runner,
        encoder: Encoder,
        size: PieceSize,
        clock: Callable[[], float] = time.monotonic,
        turns: DeviceTurns | None = None,
    ) -> None:
        """`turns` give it the device where other models want it too."""
        self._runner, self._encoder, self._size, self._clock, self._turns = runner, encoder, size, clock, turns
        self._numbers = itertools.count()
        self._texts: dict[int, _Text] = {}
        self._by_length: dict[Reading, ByLength] = {}
        self._users: OrderedDict[str, dict[int, None]] = OrderedDict()
        self._working: asyncio.Task[None] | None = None

    @property
    def waiting(self) -> int:
        """Texts that no piece has taken yet."""
        return len(self._texts)

    async def run(self, user: str, inputs: Sequence[EncoderInput], reading: Reading) -> list[Rows]:
        """A row for each of the inputs. Raises BatchFailedError. What is cancelled is computed no further."""
        if not inputs:
            return []
        order = _Order(reading, [None] * len(inputs), len(inputs), asyncio.get_running_loop().create_future())
        numbers = [self._add(_Text(user, order, place, one)) for place, one in enumerate(inputs)]
        if self._working is None:
            self._working = asyncio.create_task(self._work(), name="pie-embedding")
        try:
            await order.done
        finally:
            for number in numbers:
                self._withdraw(number)
        return [row for row in order.rows if row is not None]

    async def stop(self) -> None:
        """End the work after the piece that is running. What waits fails with BatchFailedError."""
        if self._working is not None:
            self._working.cancel()
            await asyncio.gather(self._working, return_exceptions=True)
        self._fail(list(self._texts.values()), "embed: the engine has stopped")
        if self._turns is not None:
            self._turns.leave(self)

    def _add(self, text: _Text) -> int:
        number = next(self._numbers)
        self._texts[number] = text
        self._by_length.setdefault(text.order.reading, ByLength()).add(len(text.input), number)
        self._users.setdefault(text.user, {})[number] = None
        return number

    def _withdraw(self, number: int) -> None:
        if (text := self._texts.get(number)) is not None:
            lengths = self._by_length[text.order.reading]
            place = lengths.place(len(text.input), number)
            lengths.remove(place, place + 1)
            self._forget(number)

    def _forget(self, number: int) -> _Text:
        text = self._texts.pop(number)
        own = self._users[text.user]
        del own[number]
        if not own:
            del self._users[text.user]
        return text

    def _next_piece(self) -> list[_Text]:
        """The texts of the next piece, which wait no more."""
        user, own = next(iter(self._users.items()))
        self._users.move_to_end(user)
        number = next(iter(own))
        text = self._texts[number]
        lengths = self._by_length[text.order.reading]
        first = lengths.place(len(text.input), number)
        taken = lengths.remove(*neighbours(lengths.lengths, first, self._size.tokens))
        return [self._forget(one) for one in taken]

    async def _work(self) -> None:
        try:
            while self._texts:
                if self._turns is not None:
                    await self._turns.take(self, None)  # texts have no pages to bid for
                if self._texts:  # what waited for the turn may be cancelled
                    await self._compute(self._next_piece())
        finally:
            self._working = None
            if self._turns is not None:
                self._turns.give(self)

    async def _compute(self, piece: list[_Text]) -> None:
        inputs, reading = [text.input for text in piece], piece[0].order.reading

        def compute() -> tuple[Rows, float]:
            begun = self._clock()
            return self._encoder.compute(inputs, reading), self._clock() - begun

        try:
            rows, seconds = await self._runner.call(compute)
        except asyncio.CancelledError:
            self._fail(piece, "embed: the engine has stopped")
            raise
        except Exception as error:
            self._fail(piece, f"embed: the device failed: {one_line(error)}")
            return
        self._size.note(len(inputs) * max(map(len, inputs)), seconds)
        for text, row in zip(piece, rows, strict=True):
            order = text.order
            order.rows[text.place] = row
            order.missing -= 1
            if not order.missing and not order.done.done():
                order.done.set_result(None)

    def _fail(self, piece: list[_Text], why: str) -> None:
        for text in piece:
            if not text.order.done.done():
                text.order.done.set_exception(BatchFailedError(why, hint="try again, with fewer texts at once"))
