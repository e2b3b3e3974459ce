"""The items of a response's output, and the events that tell of them."""

from wire.sending import identifier


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
        return [*self._ending(), self._told("done", self.data())]

    def _told(self, what, item):
        return {"type": f"response.output_item.{what}", "output_index": self._index, "item": item}

    def _event(self, kind, **fields):
        return {"type": f"response.{kind}", "item_id": self._id, "output_index": self._index, **fields}


class TextItem(Item):
    """An item that is one text. `STEM` begins the names of its events."""

    STEM = ""

    def __init__(self, index):
        super().__init__(index)
        self._texts, self._readings = [], []

    def open(self):
        """The events that begin it."""
        return [self._told("added", {**self.data(), "content": []}), self._part_event("added")]

    def grow(self, text, readings):
        """The event of more text."""
        self._texts.append(text)
        self._readings += readings
        return self._text_event("delta", delta=text, readings=readings)

    def _ending(self):
        text = "".join(self._texts)
        return [self._text_event("done", text=text, readings=self._readings), self._part_event("done")]

    def _part_event(self, what):
        return self._event(f"content_part.{what}", content_index=0, part=self._part())

    def _text_event(self, what, *, readings, **fields):
        return self._event(f"{self.STEM}.{what}", content_index=0, **fields)


class Message(TextItem):
    PREFIX = "msg"
    STEM = "output_text"

    def _fields(self):
        return {"type": "message", "role": "assistant", "content": [self._part()]}

    def _part(self):
        text, readings = "".join(self._texts), list(self._readings)
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": readings}

    def _text_event(self, what, *, readings, **fields):
        return super()._text_event(what, readings=readings, logprobs=readings, **fields)


class Reasoning(TextItem):
    PREFIX = "rs"
    STEM = "reasoning_text"

    def _fields(self):
        return {"type": "reasoning", "summary": [], "content": [self._part()]}

    def _part(self):
        return {"type": "reasoning_text", "text": "".join(self._texts)}


class FunctionCall(Item):
    """A call, known as a whole."""

    PREFIX = "fc"
    STEM = "function_call_arguments"

    def __init__(self, index, name, arguments):
        super().__init__(index)
        self._name, self._arguments, self._call_id = name, arguments, identifier("call")

    def open(self):
        """The events that begin it."""
        begun = self._told("added", {**self.data(), "arguments": ""})
        return [begun, self._event(f"{self.STEM}.delta", delta=self._arguments)]

    def _ending(self):
        return [self._event(f"{self.STEM}.done", arguments=self._arguments)]

    def _fields(self):
        return {"type": "function_call", "call_id": self._call_id, "name": self._name, "arguments": self._arguments}
