"""Stop strings in text that comes piece by piece."""


class StopTexts:
    """Gives text out up to the first stop string; what may be the beginning of one is held back.

    `taken` and `given` count the characters so far.
    """

    def __init__(self, stops):
        self._stops = stops
        self._held = ""
        self.taken = self.given = 0
        self.found = False

    def feed(self, text):
        """The text that is certain. Nothing after `found`."""
        if self.found:
            return ""
        self.taken += len(text)
        self._held += text
        if not self._stops:
            return self._give(len(self._held))
        places = [place for stop in self._stops if (place := self._held.find(stop)) >= 0]
        if places:
            self.found = True
            return self._give(min(places))
        return self._give(len(self._held) - self._suspicious())

    def cuts_at(self, place):
        """Whether what begins behind `place` characters of the text is not given out, or not yet."""
        return bool(self._stops) and place >= self.given

    def finish(self):
        """The text has ended."""
        return "" if self.found else self._give(len(self._held))

    def _give(self, length):
        given, self._held = self._held[:length], self._held[length:]
        self.given += length
        return given

    def _suspicious(self):
        """How much of the end could begin a stop string."""
        longest = min(max(map(len, self._stops)) - 1, len(self._held))
        lengths = range(longest, 0, -1)
        return next((n for n in lengths if any(stop.startswith(self._held[-n:]) for stop in self._stops)), 0)
