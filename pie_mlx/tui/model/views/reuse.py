"""What the engine saved: prompts from the cache, drafts, and steps that it computed ahead."""

import msgspec

from pie_mlx.figures import WINDOWS_MINUTES, Slot
from pie_mlx.tui.model.state import MonitorState


class ReuseWindow(msgspec.Struct, frozen=True):
    """The last `minutes`: tokens of prompts by how they came to have KV, passes by why pages were not cached, drafts,
    and steps of a context that were computed before its program asked for them."""

    minutes: int
    from_memory: int
    from_disk: int
    replayed: int
    computed: int
    misses: dict[str, int]
    drafted: int
    accepted: int
    forced: int
    kept: int
    dropped: int

    @property
    def prompt_tokens(self) -> int:
        return self.from_memory + self.from_disk + self.replayed + self.computed


def reuse_windows(state: MonitorState) -> tuple[ReuseWindow, ...]:
    """The last one, five and fifteen minutes."""
    return tuple(_window(minutes, state.recent.window(state.seconds, minutes)) for minutes in WINDOWS_MINUTES)


def _window(minutes: int, figures: Slot) -> ReuseWindow:
    return ReuseWindow(
        minutes,
        figures.from_memory,
        figures.from_disk,
        figures.replayed,
        figures.computed,
        figures.misses,
        figures.drafted,
        figures.accepted,
        figures.forced,
        figures.kept,
        figures.dropped,
    )
