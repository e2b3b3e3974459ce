"""A restore under way."""

from dataclasses import dataclass

from pie_mlx.engine.kv import Restore
from pie_mlx.engine.live_context import LiveContext
from pie_mlx.engine.passes import Pass


@dataclass(slots=True, eq=False)
class Restoration:
    """What brings a context back, and the passes that still have to compute what was lost."""

    context: LiveContext
    work: Restore
    replays: list[Pass]

    @property
    def next_replay(self) -> Pass | None:
        return self.replays[0] if self.replays else None
