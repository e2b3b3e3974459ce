"""What guesses for the contexts of an engine."""

from dataclasses import dataclass, field

from pie_mlx.engine.speculation.draft_head import DraftHeadRunner
from pie_mlx.engine.speculation.draft_model import DraftModelRunner
from pie_mlx.engine.speculation.drafting import Allowance, LookAllowance


@dataclass(frozen=True, slots=True)
class Drafts:
    """`model` writes with the draft model, `head` with the model's own draft head, where there are such; `repetitions`
    and `grammars` are the allowances of guessing text that was there before, and text that must come, `looks` that of
    looking again after one step, where steps could follow at once."""

    model: DraftModelRunner | None
    head: DraftHeadRunner | None = None
    repetitions: Allowance = field(default_factory=Allowance)
    grammars: Allowance = field(default_factory=Allowance)
    looks: LookAllowance = field(default_factory=LookAllowance)

    def went_on(self, steps: int) -> None:
        """A stream that speculates took so many steps at once, without looking for guesses."""
        self.grammars.went_on(steps)
        self.looks.went_on(steps)

    def fork(self, source: int, target: int) -> None:
        """A context was forked."""
        if self.model is not None:
            self.model.sequences.fork(source, target)
        if self.head is not None:
            self.head.fork(source, target)

    def forget(self, context: int) -> None:
        """A context is released."""
        if self.model is not None:
            self.model.forget(context)
        if self.head is not None:
            self.head.forget(context)

    async def stop(self) -> None:
        """End after the steps that are running."""
        for guessing in (self.model, self.head):
            if guessing is not None:
                await guessing.stop()
