"""The peak number of used pages."""

from pie_mlx.events import Event, TickCompleted


class PeakPages:
    """Watches an engine; `used` is the peak at the ends of ticks since it was last set."""

    def __init__(self) -> None:
        self.used = 0

    def see(self, event: Event) -> None:
        """Take one event of the engine."""
        if isinstance(event, TickCompleted):
            self.used = max(self.used, event.pages.used)
