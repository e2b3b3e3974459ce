"""What guesses for the contexts of an engine."""

from dataclasses import dataclass, field

from pie_mlx.engine.speculation.draft_model import DraftDesk
from pie_mlx.engine.speculation.drafting import Allowance


@dataclass(frozen=True, slots=True)
class Drafts:
    """`desk` writes with the draft model, where there is one; `repetitions` is the allowance of looking for text that
    was there before."""

    desk: DraftDesk | None
    repetitions: Allowance = field(default_factory=Allowance)

    def fork(self, source: int, target: int) -> None:
        """A context was forked."""
        if self.desk is not None:
            self.desk.sequences.fork(source, target)

    def forget(self, context: int) -> None:
        """A context is released."""
        if self.desk is not None:
            self.desk.forget(context)
