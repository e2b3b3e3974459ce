"""The visible text of generated tokens."""

from collections.abc import Iterator

from inferlet import chat
from inferlet.model import Model


def visible_text(model: Model, before: list[int], tokens: list[int]) -> str:
    """The text that a chat decoder gives for the tokens: no reasoning, no tool calls. `before` are those before them.

    A stop token follows them, because a decoder holds some text back until the end of a turn (D5).
    """
    finished, current = "", ""
    for event in _events(model, before + tokens + model.info.formats.stop_tokens[:1]):
        if isinstance(event, chat.Event.Delta):
            current += event.text
        elif isinstance(event, chat.Event.Done):
            finished, current = finished + event.text, ""
    return finished + current


def _events(model: Model, tokens: list[int]) -> "Iterator[object]":
    decoder = chat.Decoder(model)
    event = decoder.feed(tokens)
    while not isinstance(event, chat.Event.Idle):
        yield event
        event = decoder.feed([])
