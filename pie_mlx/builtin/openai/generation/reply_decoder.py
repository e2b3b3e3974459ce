"""Decode the tokens of a reply into text, reasoning and calls."""

import json
from dataclasses import dataclass, field

from inferlet import chat, reasoning, tools

from generation.unfinished import unfinished_calls, unfinished_message


@dataclass
class Decoded:
    """The decoded parts of some tokens. `begins_call`: a tool call is being written."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    begins_call: bool = False

    def add(self, more):
        self.text += more.text
        self.reasoning += more.reasoning
        self.calls += more.calls
        self.begins_call = self.begins_call or more.begins_call


class ReplyDecoder:
    """The decoders of one reply. `schemas` are the tools that may be called.

    While there is only visible text, the other decoders get the tokens later, in one feed: for most replies that saves
    most of the work, because each of them reads every token.
    """

    def __init__(self, model, schemas):
        self._model = model
        self._formats = formats = model.info.formats
        self._names = [_name(json.loads(schema)) for schema in schemas]
        self._offers = bool(schemas)
        self._text = chat.Decoder(model)
        self._reasoning = reasoning.Decoder(model) if formats.reasoning or formats.channels else None
        self._calls = tools.Decoder(model, schemas) if formats.tools or formats.channels else None
        self.thinks = formats.reasoning is not None and formats.reasoning.opened_by_cue
        self._was_plain = False
        self._unfed = []
        self._reply = []

    def feed(self, tokens):
        """Decode more tokens."""
        said = Decoded()
        self._reply += tokens
        self._unfed += tokens
        visible = self._add_text(said, self._text.feed(tokens))
        # With tools on offer a call may need its constraint from its first token on.
        is_plain = visible and not self.thinks and not self._offers
        if not (is_plain and self._was_plain):
            self._feed_others(said)
        self._was_plain = is_plain
        return said

    def finish(self, *, is_cut=False):
        """The parts held back until the end of the reply. A reply that `is_cut` may have ended inside a call."""
        said, held = self.feed([]), Decoded()
        self._add_text(held, self._text.finish())
        self._add_others(said, lambda decoder: decoder.finish())
        calls = self._unfinished(held.text) if is_cut and self._offers else None
        said.add(held if calls is None else Decoded(calls=calls))
        return said

    def _unfinished(self, text):
        """The calls in which the reply ended, with `text` held back; None if it ended outside a call."""
        if self._formats.channels:
            return unfinished_message(self._model.tokenizer().decode(self._reply), self._names)
        return unfinished_calls(self._formats.tools, text, self._names) if self._formats.tools else None

    def _add_text(self, said, event):
        """Add the events of the text decoder; returns whether they are only visible text."""
        visible = not _is_idle(event)
        while not _is_idle(event):
            match event:
                case chat.Event.Delta(text=text):
                    said.text += text
                case chat.Event.Done(tail=text):
                    said.text += text
                    visible = False
                case _:
                    visible = False
            event = self._text.feed([])
        return visible

    def _feed_others(self, said):
        tokens, self._unfed = self._unfed, []
        if tokens:
            self._add_others(said, lambda decoder: decoder.feed(tokens))

    def _add_others(self, said, ask):
        for event in _events(self._reasoning, ask):
            match event:
                case reasoning.Event.Start():
                    self.thinks = True
                case reasoning.Event.Delta(text=text):
                    said.reasoning += text
                case reasoning.Event.End():
                    self.thinks = False
        for event in _events(self._calls, ask):
            match event:
                case tools.Event.Start():
                    said.begins_call = True
                case tools.Event.Call(name=name, args=arguments):
                    self._add_call(said, name, arguments)

    def _add_call(self, said, name, arguments):
        """Add a call; without tools on offer it becomes text, so that it is not lost."""
        if self._offers:
            said.calls.append((name, arguments))
        else:
            said.text += f'{{"name": "{name}", "arguments": {arguments}}}'


def _name(schema):
    return schema.get("function", schema)["name"]


def _events(decoder, ask):
    if decoder is None:
        return
    event = ask(decoder)
    while not _is_idle(event):
        yield event
        event = decoder.feed([])


def _is_idle(event):
    return type(event).__name__ == "Idle"
