"""The records of a source since the latest refresh, folded when the state is read."""

from collections import deque
from collections.abc import Iterable

from pie_mlx.tui.model import INITIAL, MonitorState, Record, advance, fold
from pie_mlx.tui.model.facts import NO_FACTS, Facts
from pie_mlx.tui.model.folding.fold import with_losses
from pie_mlx.tui.source.base import Link

MOST_SEEN = 50_000
"""Records kept for saving a recording; the oldest are dropped first."""

MOST_WAITING = 20_000
"""The most unfolded records; more are folded at once, so that a paused view uses no more memory."""


class Inbox:
    """The `Feed` of the application. `changed` says whether there is anything new."""

    def __init__(self) -> None:
        self.changed = False
        self.connection = Link("connecting")
        self.known = NO_FACTS
        self.answered_seconds = 0.0
        """When the engine last answered: with facts, or with events."""
        self.seen: deque[Record] = deque(maxlen=MOST_SEEN)
        self._state = INITIAL
        self._waiting: list[Record] = []
        self._seconds = 0.0

    def extend(self, records: Iterable[Record]) -> None:
        before = len(self._waiting)
        self._waiting.extend(records)
        if len(self._waiting) > before:
            self.answered_seconds = max(self.answered_seconds, self._waiting[-1].seconds)
        self.seen.extend(self._waiting[before:])
        self.changed = True
        if len(self._waiting) > MOST_WAITING:
            self._fold()

    def reset(self, state: MonitorState) -> None:
        self._waiting = []
        self.seen.clear()
        self._state, self._seconds = state, state.seconds
        self.answered_seconds = max(self.answered_seconds, state.seconds)
        self.changed = True

    def advance(self, seconds: float) -> None:
        self._seconds = max(self._seconds, seconds)
        self.changed = True

    def missed(self, *, lost: int = 0, unknown: int = 0) -> None:
        if lost or unknown:
            self._state = with_losses(self._state, lost=lost, unknown=unknown)
            self.changed = True

    def link(self, link: Link) -> None:
        self.connection = link
        self.changed = True

    def facts(self, facts: Facts) -> None:
        self.known = facts
        self.answered_seconds = max(self.answered_seconds, self._seconds)
        self.changed = True

    def state(self) -> MonitorState:
        """The state up to now."""
        self._fold()
        self._state = advance(self._state, self._seconds)
        self.changed = False
        return self._state

    def _fold(self) -> None:
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._state = fold(self._state, waiting)
