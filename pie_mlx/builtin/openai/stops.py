"""Stop strings in text that comes piece by piece."""


class StopTexts:
    """Gives text out up to the first stop string; what may be the beginning of one is held back."""

    def __init__(self, stops):
        self._stops = stops
        self._held = ""
        self.found = False

    def feed(self, text):
        """The text that is certain. Nothing after `found`."""
        if self.found or not self._stops:
            return "" if self.found else text
        self._held += text
        places = [place for stop in self._stops if (place := self._held.find(stop)) >= 0]
        if places:
            self.found = True
            return self._give(min(places))
        return self._give(len(self._held) - self._suspicious())

    def finish(self):
        """The text has ended."""
        return "" if self.found else self._give(len(self._held))

    def _give(self, length):
        given, self._held = self._held[:length], self._held[length:]
        return given

    def _suspicious(self):
        """How much of the end could begin a stop string."""
        longest = min(max(map(len, self._stops)) - 1, len(self._held))
        lengths = range(longest, 0, -1)
        return next((n for n in lengths if any(stop.startswith(self._held[-n:]) for stop in self._stops)), 0)
