"""The most pages that were in use."""

from pie_mlx.events import Event, TickCompleted


class PeakPages:
    """Watches an engine; `used` is the most pages at the end of a tick since it was last set."""

    def __init__(self) -> None:
        self.used = 0

    def see(self, event: Event) -> None:
        """One event of the engine."""
        if isinstance(event, TickCompleted):
            self.used = max(self.used, event.pages.used)
