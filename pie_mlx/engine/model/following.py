"""Steps of one token that follow a batch at once, each from what the one before drew."""

from collections.abc import Collection, Sequence

from pie_mlx.calls import SampledTokens
from pie_mlx.engine.model.batch import RowRead, Work, WorkResult, last_drawn
from pie_mlx.errors import BatchFailedError


class FollowingSteps:
    """What was drawn so far for `works`, each of which draws one token, at its last input.

    `stops` are the tokens that end the work of the same place. Nothing follows once one of the works has failed, has
    drawn such a token, or has no slots left.
    """

    def __init__(self, works: Sequence[Work], stops: Sequence[Collection[int]], results: Sequence[WorkResult]) -> None:
        self._works, self._stops, self._failed = works, stops, list(results)
        self._left = min(len(work.further_slots) for work in works)
        self._tokens: list[list[int]] = [[] for _ in works]
        self.goes_on = True
        self.add(results)

    def works(self) -> list[Work]:
        """The next step."""
        return [_next(work, tokens) for work, tokens in zip(self._works, self._tokens, strict=True)]

    def add(self, results: Sequence[WorkResult]) -> None:
        """What a step drew; all of it, or nothing where one of the works has failed: it will do so again."""
        if any(isinstance(result, BatchFailedError) for result in results):
            self.goes_on = False
            return
        for tokens, result in zip(self._tokens, results, strict=True):
            tokens += last_drawn(result)
        stopped = any(tokens[-1] in stops for tokens, stops in zip(self._tokens, self._stops, strict=True))
        self.goes_on = self.count <= self._left and not stopped

    @property
    def count(self) -> int:
        """Steps so far, the first batch among them."""
        return max(len(self._tokens[0]), 1)

    def results(self) -> list[WorkResult]:
        """The tokens of all steps, or what became of the first where it has failed."""
        if not self._tokens[0]:
            return self._failed
        return [[SampledTokens(tokens)] for tokens in self._tokens]


def _next(work: Work, tokens: Sequence[int]) -> Work:
    """The row that computes the last of the `tokens` drawn for `work`, and draws the next."""
    (read,), done = work.reads, len(tokens)
    return Work(
        context=work.context,
        tokens=tokens[-1:],
        positions=[work.positions[-1] + done],
        slots=[work.further_slots[done - 1]],
        block_table=work.block_table,
        kv_length=work.kv_length + done,
        reads=(RowRead(0, read.read, read.stream, read.counter + done, read.mask),),
        adapters=None if work.adapters is None else work.adapters[-1:],
    )
