"""States along a recording, so that a seek folds few records."""

import bisect
from collections.abc import Sequence

from pie_mlx.tui.model.folding.fold import advance, fold
from pie_mlx.tui.model.folding.record import Record
from pie_mlx.tui.model.state import INITIAL, MonitorState

CHECKPOINT_RECORDS = 2000


class Checkpoints:
    """Makes the state after the first `count` records, and keeps states at regular intervals."""

    def __init__(self, records: Sequence[Record], start: MonitorState = INITIAL) -> None:
        self._records = records
        self._states = [start]

    def state(self, count: int, seconds: float) -> MonitorState:
        """The state after `count` records, at `seconds`."""
        place = min(count // CHECKPOINT_RECORDS, len(self._states) - 1)
        state = self._states[place]
        while (place + 1) * CHECKPOINT_RECORDS <= count:
            state = fold(state, self._slice(place, (place + 1) * CHECKPOINT_RECORDS))
            self._states.append(state)
            place += 1
        return advance(fold(state, self._slice(place, count)), seconds)

    def count_until(self, seconds: float) -> int:
        """The number of records up to `seconds`."""
        return bisect.bisect_right(self._records, seconds, key=lambda record: record.seconds)

    def _slice(self, place: int, end: int) -> Sequence[Record]:
        return self._records[place * CHECKPOINT_RECORDS : end]
