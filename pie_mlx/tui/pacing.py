"""When the screen is refreshed between key presses."""

from dataclasses import dataclass

REFRESH_SECONDS = 0.25
"""The interval of refreshes. Keys take effect at once."""
MOST_LOAD = 0.05
"""The share of one core that the monitor may use: expensive refreshes come less often."""
LONGEST_PAUSE_SECONDS = 2.0
"""The longest interval, however expensive refreshes are."""


@dataclass(slots=True)
class Pacing:
    """`processor_seconds` is the processor time of this process, which includes reading events."""

    _began_seconds: float = 0.0
    _processor_seconds: float = 0.0

    def is_due(self, now_seconds: float, processor_seconds: float) -> bool:
        """Whether the next refresh may start."""
        pause_seconds = (processor_seconds - self._processor_seconds) / MOST_LOAD
        return now_seconds - self._began_seconds >= min(LONGEST_PAUSE_SECONDS, pause_seconds)

    def begin(self, now_seconds: float, processor_seconds: float) -> None:
        """Called when a refresh begins."""
        self._began_seconds, self._processor_seconds = now_seconds, processor_seconds
