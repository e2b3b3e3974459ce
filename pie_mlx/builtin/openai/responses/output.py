"""The output of a response, while its reply is generated."""

from responses.items import FunctionCall, Message, Reasoning


class Output:
    """Items in order; the last one may be in progress."""

    def __init__(self):
        self._items = []
        self._waiting = []

    def data(self):
        return [item.data() for item in self._items]

    def add(self, piece):
        """Add one part of the reply; yields its events."""
        yield from self._extend(Reasoning, piece.reasoning, [])
        yield from self._extend(Message, piece.text, self._placed(piece))
        for name, arguments in piece.calls:
            self._waiting = []
            yield from self._begin(FunctionCall(len(self._items), name, arguments))
        if piece.finish and not self._items:
            # Clients expect a message, even in an empty reply.
            yield from self._begin(Message(0))
        if piece.finish or piece.calls:
            yield from self.close("incomplete" if piece.finish == "length" else "completed")

    def close(self, status):
        """The events that end the item in progress, if there is one."""
        return self._items[-1].close(status) if self._is_open(object) else []

    def _extend(self, kind, text, entries):
        if text and not self._is_open(kind):
            yield from self._begin(kind(len(self._items)))
        if text or (entries and self._is_open(kind)):
            yield self._items[-1].grow(text, entries)

    def _placed(self, piece):
        """The logprobs of the text. Those before its beginning wait for it; those of a call are dropped."""
        entries = [*self._waiting, *piece.entries]
        self._waiting = [] if piece.text or self._is_open(Message) else entries
        return [] if self._waiting else entries

    def _begin(self, item):
        yield from self.close("completed")
        self._items.append(item)
        yield from item.open()

    def _is_open(self, kind):
        return bool(self._items) and self._items[-1].status == "in_progress" and isinstance(self._items[-1], kind)
