"""Find stop strings in text that arrives in pieces."""


class StopTexts:
    """Releases text up to the first stop string; a possible beginning of one is held back.

    `fed` and `given` count the characters so far.
    """

    def __init__(self, stops):
        self._stops = stops
        self._held = ""
        self.fed = self.given = 0
        self.found = False

    def feed(self, text):
        """The text that is certain; nothing after `found`."""
        if self.found:
            return ""
        self.fed += len(text)
        self._held += text
        if not self._stops:
            return self._give(len(self._held))
        places = [place for stop in self._stops if (place := self._held.find(stop)) >= 0]
        if places:
            self.found = True
            return self._give(min(places))
        return self._give(len(self._held) - self._suspicious())

    def cuts_at(self, place):
        """Whether text that begins at `place` is not released, or not yet."""
        return bool(self._stops) and place >= self.given

    def finish(self):
        """The text that was held back, at the end."""
        return "" if self.found else self._give(len(self._held))

    def _give(self, length):
        given, self._held = self._held[:length], self._held[length:]
        self.given += length
        return given

    def _suspicious(self):
        """The length of the suffix that could begin a stop string."""
        longest = min(max(map(len, self._stops)) - 1, len(self._held))
        lengths = range(longest, 0, -1)
        return next((n for n in lengths if any(stop.startswith(self._held[-n:]) for stop in self._stops)), 0)
