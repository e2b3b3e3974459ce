"""Steps of one token that follow a batch at once, each from what the one before drew."""

from collections.abc import Sequence

from msgspec.structs import replace

from pie_mlx.calls import SampledTokens, joined
from pie_mlx.engine.model.batch import Following, PackedMask, RowRead, Work, WorkResult, drawn, is_argmax
from pie_mlx.errors import BatchFailedError


class FollowingSteps:
    """What was drawn so far for `works`, each of which draws one token, at its last input.

    Nothing follows once one of the works has failed, or `following` wants no more, or no slots are left. With a `tail`
    the last slots are for a step that runs ahead of those who will ask for it.
    """

    def __init__(self, works: Sequence[Work], following: Following, *, tail: bool) -> None:
        self._works, self._following, self._tail = works, following, tail
        self._left = min(len(work.further_slots) for work in works) - tail
        self._drawn: list[list[SampledTokens]] = [[] for _ in works]
        self._wanted = False

    @property
    def count(self) -> int:
        """Steps so far, the batch itself among them."""
        return len(self._drawn[0])

    @property
    def rows(self) -> int:
        """Tokens that each step draws."""
        return len(self._works)

    @property
    def goes_on(self) -> bool:
        """Whether another step follows."""
        return self._wanted and self.count <= self._left

    def tail(self) -> list[Work]:
        """The step that may run ahead, behind all others; empty where there is none, or none is wanted any more."""
        if not self._tail or not self._wanted or self.goes_on:
            return []
        works = self.works()
        return [replace(work, reads=self._foreseen(row)) for row, work in enumerate(works)]

    def works(self) -> list[Work]:
        """The next step, but for its `reads`."""
        return self._works_behind(self.count, [steps[-1].tokens[0] for steps in self._drawn])

    def works_behind(self) -> list[Work]:
        """The step behind the one that is being drawn, on tokens not known yet; empty where it can be none."""
        last = self._left + self._tail
        return [] if self.count >= last else self._works_behind(self.count + 1, [0] * self.rows)

    def reads(self) -> list[list[tuple[int, RowRead]]]:
        """What is drawn in the next step, with the row of its logits. Raises what keeps it from being one."""
        masks = self._following.masks()
        return [[(row, _next_read(work.reads[0], self.count, masks[row]))] for row, work in enumerate(self._works)]

    def _works_behind(self, drawn: int, tokens: Sequence[int]) -> list[Work]:
        return [_next_work(work, drawn, token) for work, token in zip(self._works, tokens, strict=True)]

    def add(self, results: Sequence[WorkResult]) -> None:
        """What a step drew; all of it, or nothing where one of the works has failed: it will do so again.

        Raises PieError, with the tokens added, where a grammar does not tell whether more may follow.
        """
        self._wanted = False
        if any(isinstance(result, BatchFailedError) for result in results):
            return
        step = [value for result in results for value in drawn(result)]
        for steps, value in zip(self._drawn, step, strict=True):
            steps.append(value)
        self._wanted = self._following.advance([value.tokens[0] for value in step])

    def _foreseen(self, row: int) -> tuple[RowRead, ...]:
        """What is read of the step that runs ahead, where that is sure and costs nothing."""
        read = self._works[row].reads[0]
        return (_next_read(read, self.count, None),) if is_argmax(read) and read.mask is None else ()

    def results(self) -> list[WorkResult]:
        """The tokens of all steps."""
        return [[joined(steps)] for steps in self._drawn]


def _next_work(work: Work, drawn: int, token: int) -> Work:
    """The row that computes `token`, the last of those `drawn` for `work`."""
    return Work(
        context=work.context,
        tokens=[token],
        positions=[work.positions[-1] + drawn],
        slots=[work.further_slots[drawn - 1]],
        block_table=work.block_table,
        kv_length=work.kv_length + drawn,
        reads=(RowRead(0, work.reads[0].read),),
        adapters=None if work.adapters is None else work.adapters[-1:],
    )


def _next_read(read: RowRead, drawn: int, mask: PackedMask | None) -> RowRead:
    return RowRead(0, read.read, read.stream, read.counter + drawn, mask)
