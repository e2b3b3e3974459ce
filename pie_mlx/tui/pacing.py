"""When the screen is redrawn without a key press."""

from dataclasses import dataclass

REFRESH_SECONDS = 0.25
"""Shortest time between refreshes; keys are answered at once."""
MOST_LOAD = 0.05
"""The share of one core that the monitor may use: expensive refreshes come less often."""
LONGEST_PAUSE_SECONDS = 2.0
"""Longest time between refreshes."""


@dataclass(slots=True)
class Pacing:
    """`processor_seconds` are all of this process; reading events counts too."""

    _began_seconds: float = 0.0
    _processor_seconds: float = 0.0

    def is_due(self, now_seconds: float, processor_seconds: float) -> bool:
        """Whether the next refresh may start."""
        pause_seconds = (processor_seconds - self._processor_seconds) / MOST_LOAD
        return now_seconds - self._began_seconds >= min(LONGEST_PAUSE_SECONDS, pause_seconds)

    def begin(self, now_seconds: float, processor_seconds: float) -> None:
        """A refresh begins."""
        self._began_seconds, self._processor_seconds = now_seconds, processor_seconds
