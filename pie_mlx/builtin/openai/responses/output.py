"""The output of a response, as its reply is generated."""

from responses.items import FunctionCall, Message, Reasoning


class Output:
    """Items, one behind the other; the last one may be in progress."""

    def __init__(self):
        self._items = []
        self._waiting = []

    def data(self):
        return [item.data() for item in self._items]

    def take(self, piece):
        """The events of one part of the reply."""
        yield from self._speak(Reasoning, piece.reasoning, [])
        yield from self._speak(Message, piece.text, self._placed(piece))
        for name, arguments in piece.calls:
            self._waiting = []
            yield from self._begin(FunctionCall(len(self._items), name, arguments))
        if piece.finish and not self._items:
            # Clients look for a message, also in a reply that says nothing.
            yield from self._begin(Message(0))
        if piece.finish or piece.calls:
            yield from self.close("incomplete" if piece.finish == "length" else "completed")

    def close(self, status):
        """The events that end the item in progress, if there is one."""
        return self._items[-1].close(status) if self._is_open(object) else []

    def _speak(self, kind, text, readings):
        if text and not self._is_open(kind):
            yield from self._begin(kind(len(self._items)))
        if text or (readings and self._is_open(kind)):
            yield self._items[-1].grow(text, readings)

    def _placed(self, piece):
        """The readings of the text; those that come before it begins wait for it, and those of a call are dropped."""
        readings = [*self._waiting, *piece.readings]
        self._waiting = [] if piece.text or self._is_open(Message) else readings
        return [] if self._waiting else readings

    def _begin(self, item):
        yield from self.close("completed")
        self._items.append(item)
        yield from item.open()

    def _is_open(self, kind):
        return bool(self._items) and self._items[-1].status == "in_progress" and isinstance(self._items[-1], kind)
