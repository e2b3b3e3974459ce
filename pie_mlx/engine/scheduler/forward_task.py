"""A forward pass between its request and its reply."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pie_mlx.calls import AnyResult, SampledTokens
from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.model.runner.batch import LogitsRequest
from pie_mlx.engine.scheduler.continuation import FurtherSteps
from pie_mlx.engine.scheduler.live_context import LiveContext
from pie_mlx.engine.speculation.drafting import Window
from pie_mlx.errors import PieError


@dataclass(slots=True, eq=False)
class ForwardTask:
    """Tokens of one context on their way through one or more ticks.

    `inputs` are what has to be computed (cache hits are attached already); `reads` index them. `cursor` counts the
    inputs already in KV. `commits`: full pages are committed when all are (P10). A `replay` pass rebuilds KV that was
    lost: it writes slots the context already counts, from `first_slot` on, and reads nothing (R6). `in_batch` while
    some of it is on the device. The last inputs may be drafts, those of `window`; `continuation` tells how far the pass
    may continue without its program; `abandoned` when no program waits for what is drawn.
    """

    context: LiveContext
    inputs: Sequence[WorkingToken]
    reads: Sequence[LogitsRequest]
    arrival: int
    done: "asyncio.Future[None]"
    commits: bool = False
    replay: bool = False
    first_slot: int = 0
    cursor: int = 0
    in_batch: bool = False
    window: Window | None = None
    continuation: FurtherSteps | None = None
    abandoned: bool = False
    results: dict[int, AnyResult] = field(default_factory=dict[int, AnyResult])

    @property
    def remaining(self) -> int:
        return len(self.inputs) - self.cursor

    @property
    def drafts(self) -> int:
        """How many of the inputs are drafts."""
        return 0 if self.window is None else len(self.window.tree)

    @property
    def continues(self) -> bool:
        """Whether further steps of the pass are still wanted."""
        return self.continuation is not None and self.continuation.is_current and not self.abandoned

    @property
    def is_unowned(self) -> bool:
        """Whether nobody can use the rest: who waited has given up, and the context with it."""
        return self.abandoned and self.context.released and not self.is_over

    @property
    def is_over(self) -> bool:
        """Nothing remains, or nobody waits for it any more."""
        return self.remaining == 0 or self.done.done()

    @property
    def failure(self) -> BaseException | None:
        """Why it is over without success."""
        return self.done.exception() if self.done.done() and not self.done.cancelled() else None

    @property
    def has_adapter(self) -> bool:
        """Whether any input is computed with an adapter. The last one tells: only what was pending before has none."""
        return self.inputs[-1].adapter != 0

    def runs_whole(self, count: int) -> bool:
        """Whether the next `count` inputs are all there are."""
        return not self.cursor and count == len(self.inputs)

    def reads_within(self, count: int) -> list[tuple[int, LogitsRequest]]:
        """The reads of the next `count` inputs, with their place among all reads."""
        end = self.cursor + count
        return [(place, read) for place, read in enumerate(self.reads) if self.cursor <= read.index < end]

    def take(self, count: int, values: Sequence[AnyResult]) -> None:
        """The next `count` inputs are computed; `values` is what was read from them, in the order of the reads."""
        places = range(len(self.reads)) if self.runs_whole(count) else [place for place, _ in self.reads_within(count)]
        self.results.update(zip(places, values, strict=True))
        self.cursor += count

    def rejected(self) -> int:
        """How many of the last inputs leave KV, now that all results are there."""
        if self.window is None:
            return 0
        drawn = [result.tokens[0] for result in self.in_order() if isinstance(result, SampledTokens)]
        return self.window.judge(drawn, wanted=not self.abandoned)

    def finish(self) -> None:
        if not self.done.done():
            self.done.set_result(None)

    def fail(self, error: PieError) -> None:
        if not self.done.done():
            self.done.set_exception(error)

    def in_order(self) -> list[AnyResult]:
        """The results as the reads were attached (F11)."""
        return [self.results[place] for place in range(len(self.reads))]


class Completion(asyncio.Future[None]):
    """Done when its pass is. Whoever cancels the wait is heard until the first tokens are in a batch (E5).

    The pass completes after that, and so does the wait: a shield would cost two turns of the loop per row of a batch.
    Where the context is given up too, whose tokens they would be, what is not in the batch does not run any more.
    Whoever is heard takes the pass out of `passes` at once, as the next batch may be planned before the task hears.
    """

    waiting: ForwardTask

    def __init__(self, passes: dict[int, ForwardTask]) -> None:
        super().__init__()
        self._passes = passes

    def cancel(self, msg: Any | None = None) -> bool:
        waiting = self.waiting
        waiting.abandoned = True
        if waiting.in_batch or (waiting.cursor and (self.done() or not waiting.context.released)):
            return True
        if self._passes.get(waiting.context.id) is waiting:
            del self._passes[waiting.context.id]
        return super().cancel(msg)
