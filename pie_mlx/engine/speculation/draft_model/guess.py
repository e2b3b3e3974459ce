"""What the draft model is asked to write for one context, and how far it is."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from pie_mlx.calls import Sampler
from pie_mlx.engine.model.runner.batch import LogitsRequest, PackedMask
from pie_mlx.engine.model.token_counts import TokenCounts
from pie_mlx.engine.speculation.drafting import DraftRow, after


@dataclass(frozen=True, slots=True)
class Guess:
    """At most `most` guesses at what follows `inputs` after the `held` tokens of a context.

    `read(count)` answers the last `count` of these. The guesses are drawn as the pass will draw: with `sampler`, its
    random `stream` from `counter` on (L6), penalised by the `counts` of its text (L7), and under the masks of `first`
    and `fixed`; up to one of `stop_tokens`.
    """

    context: int
    held: int
    inputs: Sequence[int]
    read: Callable[[int], Sequence[int]]
    most: int
    sampler: Sampler
    stream: int
    counter: int
    first: DraftRow
    fixed: PackedMask | None = None
    stop_tokens: Collection[int] = ()
    counts: TokenCounts | None = None


class Guesses(NamedTuple):
    """What was guessed, and the seconds of the device that took; what had to be caught up on does not count."""

    tokens: list[int]
    seconds: float = 0.0


@dataclass(slots=True, eq=False)
class Writing:
    """A guess being drafted. `pending` tokens are still to be read; `row` is the one after them, None at the end."""

    guess: Guess
    pending: list[int]
    done: "asyncio.Future[Guesses]"
    row: DraftRow | None
    tokens: list[int] = field(default_factory=list[int])
    seconds: float = 0.0

    def reads(self, count: int) -> tuple[LogitsRequest, ...]:
        """What is drawn when the next `count` pending tokens are read: one token, after the last of them."""
        if count < len(self.pending) or self.row is None:
            return ()
        guess, counter = self.guess, self.guess.counter + len(self.tokens)
        counts = guess.counts and guess.counts.after(self.tokens)
        return (LogitsRequest(count - 1, guess.sampler, guess.stream, counter, self.row.mask, counts),)

    def record(self, count: int, drawn: Sequence[int], seconds: float) -> None:
        """`count` pending tokens were read, and a token was `drawn` if they were the last; its share are `seconds`."""
        if drawn:
            self.seconds += seconds
        self.pending = self.pending[count:]
        for token in drawn:
            self.tokens.append(token)
            self.pending = [token]
            self.row = self._next_row(token)

    def finish(self) -> None:
        """Nothing more is written."""
        if not self.done.done():
            self.done.set_result(Guesses(self.tokens, self.seconds))

    def _next_row(self, token: int) -> DraftRow | None:
        if len(self.tokens) >= self.guess.most or token in self.guess.stop_tokens or self.row is None:
            return None
        return after(self.row, token, self.guess.fixed)
