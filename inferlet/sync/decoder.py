"""One decoder for text, reasoning and tool calls."""

from collections.abc import Iterable, Iterator

from inferlet._calls.checks import integers
from inferlet._decoding.decoder import make_scanner
from inferlet._decoding.items import (
    CallEnd,
    CallStart,
    Item,
    ReasoningEnd,
    ReasoningStart,
    ReasoningText,
    TurnEnd,
    VisibleText,
)
from inferlet.model import Model
from inferlet.sync.event import AnyEvent, Done, Text, Thinking, ThinkingDone, ToolCall, ToolCallStart


class Decoder:
    """Events of a token stream. Reasoning and tool calls are never visible text; `reasoning` and `tool_use` turn on
    their own events."""

    def __init__(self, model: Model, *, reasoning: bool = False, tool_use: bool = False) -> None:
        self._model = model
        self._reasoning = reasoning
        self._tool_use = tool_use
        self.reset()

    def feed(self, tokens: Iterable[int]) -> list[AnyEvent]:
        """The events these tokens complete, in order; adjacent pieces of text are one event."""
        items = (item for token in integers(tokens, "tokens") for item in self._scanner.feed(token))
        return self._merged(items)

    def finish(self) -> list[AnyEvent]:
        """End the reply as a stop token would; the last event is Done."""
        return self._merged(self._scanner.finish())

    def reset(self) -> None:
        """Forget everything, as if newly made."""
        self._scanner = make_scanner(self._model)
        self._reply: list[str] = []
        self._thought: list[str] = []

    def _merged(self, items: Iterable[Item]) -> list[AnyEvent]:
        events: list[AnyEvent] = []
        for item in items:
            for event in self._events(item):
                last = events[-1] if events else None
                if isinstance(event, Text) and isinstance(last, Text):
                    events[-1] = Text(last.text + event.text)
                elif isinstance(event, Thinking) and isinstance(last, Thinking):
                    events[-1] = Thinking(last.text + event.text)
                else:
                    events.append(event)
        return events

    def _events(self, item: Item) -> Iterator[AnyEvent]:
        match item:
            case VisibleText(text):
                self._reply.append(text)
                yield Text(text)
            case TurnEnd():
                yield Done("".join(self._reply))
                self._reply = []
            case ReasoningStart() | ReasoningText() | ReasoningEnd() if self._reasoning:
                yield from self._thinking(item)
            case CallStart() if self._tool_use:
                yield ToolCallStart()
            case CallEnd(calls) if self._tool_use:
                yield from (ToolCall(call.name, call.arguments) for call in calls)
            case _:
                pass

    def _thinking(self, item: ReasoningStart | ReasoningText | ReasoningEnd) -> Iterator[AnyEvent]:
        match item:
            case ReasoningStart():
                self._thought = []
            case ReasoningText(text):
                self._thought.append(text)
                yield Thinking(text)
            case ReasoningEnd():
                yield ThinkingDone("".join(self._thought))
