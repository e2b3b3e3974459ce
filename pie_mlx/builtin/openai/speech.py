"""What a model says, split into what a client is told."""

from dataclasses import dataclass, field

from inferlet import chat, reasoning, tools


@dataclass
class Said:
    """What has become certain with some tokens. `begins_call`: a tool call is being written."""

    text: str = ""
    reasoning: str = ""
    calls: list[tuple[str, str]] = field(default_factory=list)
    begins_call: bool = False


class Speech:
    """The decoders of one reply. `schemas` are the tools that may be called."""

    def __init__(self, model, schemas):
        formats = model.info.formats
        self._offers = bool(schemas)
        self._text = chat.Decoder(model)
        self._reasoning = reasoning.Decoder(model) if formats.reasoning or formats.channels else None
        self._calls = tools.Decoder(model, schemas) if formats.tools or formats.channels else None
        self.thinks = formats.reasoning is not None and formats.reasoning.opened_by_cue

    def feed(self, tokens):
        """Take more tokens."""
        return self._said(lambda decoder: decoder.feed(tokens))

    def finish(self):
        """The reply has ended: what was held back."""
        return self._said(lambda decoder: decoder.finish())

    def _said(self, ask):
        said = Said()
        for event in _events(self._text, ask):
            match event:
                case chat.Event.Delta(text=text) | chat.Event.Done(tail=text):
                    said.text += text
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
                    self._take_call(said, name, arguments)
        return said

    def _take_call(self, said, name, arguments):
        """A call of a tool nobody offered is text, so that it is not lost."""
        if self._offers:
            said.calls.append((name, arguments))
        else:
            said.text += f'{{"name": "{name}", "arguments": {arguments}}}'


def _events(decoder, ask):
    if decoder is None:
        return
    event = ask(decoder)
    while type(event).__name__ != "Idle":
        yield event
        event = decoder.feed([])
