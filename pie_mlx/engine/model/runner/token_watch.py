"""The draws of a context whose tokens are being watched."""

from dataclasses import dataclass, field

LIKELY = 8
"""Most likely tokens beside each drawn one."""


@dataclass(frozen=True, slots=True)
class WatchedDraw:
    """A drawn `token` and its log-probability; the most `likely` tokens with theirs, falling. They are natural ones, at
    temperature 1, before penalties and masks. A mask `allowed` so many tokens, 0 if there was none."""

    token: int
    logprob: float
    likely: tuple[tuple[int, float], ...]
    allowed: int = 0


@dataclass(slots=True, eq=False)
class TokenWatch:
    """Draws by their counters. A batch that is computed again overwrites its own; the MLX thread adds, the engine's
    loop takes what passes have brought."""

    _draws: dict[int, WatchedDraw] = field(default_factory=dict[int, WatchedDraw])

    def add(self, counter: int, draw: WatchedDraw) -> None:
        self._draws[counter] = draw

    def take(self, end: int) -> dict[int, WatchedDraw]:
        """The draws with counters below `end`, in order. Later ones stay: no program has used them yet."""
        return {counter: self._draws.pop(counter) for counter in sorted(self._draws) if counter < end}
