"""The items of a response's output, and their events."""

from wire import identifier


class Item:
    """The item at `index` of an output. It is in progress until it is closed."""

    PREFIX = ""

    def __init__(self, index):
        self.status = "in_progress"
        self._index, self._id = index, identifier(self.PREFIX)

    def data(self):
        return {"id": self._id, "status": self.status, **self._fields()}

    def close(self, status):
        """The events that end it."""
        self.status = status
        return [*self._ending(), self._item_event("done", self.data())]

    def _item_event(self, what, item):
        return {"type": f"response.output_item.{what}", "output_index": self._index, "item": item}

    def _event(self, kind, **fields):
        return {"type": f"response.{kind}", "item_id": self._id, "output_index": self._index, **fields}


class TextItem(Item):
    """An item that is one text. `STEM` begins the names of its events."""

    STEM = ""

    def __init__(self, index):
        super().__init__(index)
        self._texts, self._entries = [], []

    def open(self):
        """The events that begin it."""
        return [self._item_event("added", {**self.data(), "content": []}), self._part_event("added")]

    def grow(self, text, entries):
        """The event of more text."""
        self._texts.append(text)
        self._entries += entries
        return self._text_event("delta", delta=text, entries=entries)

    def _ending(self):
        text = "".join(self._texts)
        return [self._text_event("done", text=text, entries=self._entries), self._part_event("done")]

    def _part_event(self, what):
        return self._event(f"content_part.{what}", content_index=0, part=self._part())

    def _text_event(self, what, *, entries, **fields):
        return self._event(f"{self.STEM}.{what}", content_index=0, **fields)


class Message(TextItem):
    PREFIX = "msg"
    STEM = "output_text"

    def _fields(self):
        return {"type": "message", "role": "assistant", "content": [self._part()]}

    def _part(self):
        text, entries = "".join(self._texts), list(self._entries)
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": entries}

    def _text_event(self, what, *, entries, **fields):
        return super()._text_event(what, entries=entries, logprobs=entries, **fields)


class Reasoning(TextItem):
    PREFIX = "rs"
    STEM = "reasoning_text"

    def _fields(self):
        return {"type": "reasoning", "summary": [], "content": [self._part()]}

    def _part(self):
        return {"type": "reasoning_text", "text": "".join(self._texts)}


class FunctionCall(Item):
    """A complete call."""

    PREFIX = "fc"
    STEM = "function_call_arguments"

    def __init__(self, index, name, arguments):
        super().__init__(index)
        self._name, self._arguments, self._call_id = name, arguments, identifier("call")

    def open(self):
        """The events that begin it."""
        begun = self._item_event("added", {**self.data(), "arguments": ""})
        return [begun, self._event(f"{self.STEM}.delta", delta=self._arguments)]

    def _ending(self):
        return [self._event(f"{self.STEM}.done", arguments=self._arguments)]

    def _fields(self):
        return {"type": "function_call", "call_id": self._call_id, "name": self._name, "arguments": self._arguments}


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
