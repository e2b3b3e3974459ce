"""The base of the three decoders: a token stream in, one event per call out."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from inferlet._calls.checks import integers
from inferlet._decoding.delimiters import DelimiterScanner
from inferlet._decoding.harmony import HarmonyScanner
from inferlet._decoding.items import Item, Scanner
from inferlet.detokenizer import token_bytes
from inferlet.model import Model, checked_model
from pie_mlx.calls import ParsedToolCall, ParseToolCall

E = TypeVar("E")


class Piece(Protocol):
    """An event that carries text."""

    def __init__(self, text: str) -> None: ...

    @property
    def text(self) -> str: ...


def make_scanner(model: Model, schemas: Sequence[str] = ()) -> Scanner:
    """The scanner for this model's reply format."""

    def parse(text: str) -> list[ParsedToolCall]:
        return model.host.call(ParseToolCall(model.name, text, list(schemas)))

    kind = HarmonyScanner if checked_model(model).info.formats.channels else DelimiterScanner
    return kind(model.info.formats, token_bytes(model), parse)


class QueueDecoder(Generic[E]):
    """Queues the events of one stream; the events do not depend on how the tokens are split into feeds (D2)."""

    def __init__(self, model: Model, idle: E, schemas: Sequence[str] = ()) -> None:
        self._model = model
        self._idle = idle
        self._schemas = schemas
        self.reset()

    def feed(self, tokens: Iterable[int]) -> E:
        """Decode tokens and return the oldest event not yet returned, `Idle` if there is none. `feed([])` drains."""
        for token in integers(tokens, "tokens"):
            self._absorb(self._scanner.feed(token))
        return self._next()

    def finish(self) -> E:
        """End the turn as a stop token would, and return an event as `feed` does: for a reply that was cut short."""
        self._absorb(self._scanner.finish())
        return self._next()

    def reset(self) -> None:
        """Forget everything, as if newly made."""
        self._scanner = make_scanner(self._model, self._schemas)
        self._queue: deque[E] = deque()
        self._begin()

    def _begin(self) -> None:
        """Forget the turn."""

    def _absorb(self, items: Iterator[Item]) -> None:
        for item in items:
            self._on_item(item)

    def _on_item(self, item: Item) -> None:
        """Turn an item of the stream into events, or ignore it."""
        raise NotImplementedError

    def _add_text(self, kind: type[Piece], text: str) -> None:
        """Queue text as an event of `kind`; it joins the piece before it (D2)."""
        queue: deque[Any] = self._queue
        if queue and isinstance(queue[-1], kind):
            text = queue.pop().text + text
        queue.append(kind(text))

    def _next(self) -> E:
        return self._queue.popleft() if self._queue else self._idle
