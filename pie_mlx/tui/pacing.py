"""When the screen is drawn anew while nobody presses a key."""

from dataclasses import dataclass

REFRESH_SECONDS = 0.25
"""What happens in between is shown together; keys are answered at once."""
MOST_LOAD = 0.05
"""The part of one core the monitor may take: dearer refreshes come less often."""
LONGEST_PAUSE_SECONDS = 2.0
"""But not less often than this."""


@dataclass(slots=True)
class Pacing:
    """`processor_seconds` are those of this process, whatever it did with them: reading events counts too."""

    _began_seconds: float = 0.0
    _processor_seconds: float = 0.0

    def is_due(self, now_seconds: float, processor_seconds: float) -> bool:
        """Whether the next refresh may begin."""
        pause_seconds = (processor_seconds - self._processor_seconds) / MOST_LOAD
        return now_seconds - self._began_seconds >= min(LONGEST_PAUSE_SECONDS, pause_seconds)

    def begin(self, now_seconds: float, processor_seconds: float) -> None:
        """A refresh begins."""
        self._began_seconds, self._processor_seconds = now_seconds, processor_seconds
