"""Generations to iterate over."""

from collections import deque
from collections.abc import Iterator

from inferlet.generator import Generator
from inferlet.model import Model
from inferlet.sync._blocking import wait
from inferlet.sync.decoder import Decoder
from inferlet.sync.event import AnyEvent, Done


class TokenStream:
    """The tokens of a generation, step by step. Iterating runs it, once."""

    def __init__(self, generator: Generator, model: Model) -> None:
        self._generator = generator
        self._model = model
        self._emitted: list[int] = []

    def __iter__(self) -> Iterator[list[int]]:
        while not self._generator.is_done:
            tokens = wait(self._step())
            if tokens:
                self._emitted += tokens
                yield tokens

    def tokens(self) -> list[int]:
        """Run to the end; all tokens, those already iterated over included."""
        for _ in self:
            pass
        return list(self._emitted)

    def text(self) -> str:
        """Run to the end; the visible text of all tokens."""
        decoder = Decoder(self._model)
        events = [*decoder.feed(self.tokens()), *decoder.finish()]
        return "".join(event.text for event in events if isinstance(event, Done))

    @property
    def finish_reason(self) -> str | None:
        """`stop`, `length`, `grammar` or `empty`; None before the end."""
        return self._generator.finish_reason

    async def _step(self) -> list[int]:
        try:
            step = await anext(self._generator)
        except StopAsyncIteration:
            return []
        return (await step.execute()).tokens


class EventStream:
    """The events of a generation; the last one is Done. Iterating runs it, once; a new iteration continues it."""

    def __init__(self, tokens: TokenStream, decoder: Decoder) -> None:
        self._tokens = tokens
        self._decoder = decoder
        self._waiting: deque[AnyEvent] = deque()
        self._replies: list[str] = []
        self._finished = False

    def __iter__(self) -> Iterator[AnyEvent]:
        while (event := self._next()) is not None:
            yield event

    def text(self) -> str:
        """Run to the end; the whole visible text, that of events already iterated over included."""
        for _ in self:
            pass
        return "".join(self._replies)

    def tokens(self) -> list[int]:
        """Run to the end; all tokens. The events can still be iterated over."""
        while not self._finished:
            self._advance()
        return self._tokens.tokens()

    @property
    def finish_reason(self) -> str | None:
        """`stop`, `length`, `grammar` or `empty`; None before the end."""
        return self._tokens.finish_reason

    def _next(self) -> AnyEvent | None:
        """The oldest event that was not iterated over yet; None at the end."""
        while not self._waiting and not self._finished:
            self._advance()
        if not self._waiting:
            return None
        event = self._waiting.popleft()
        if isinstance(event, Done):
            self._replies.append(event.text)
        return event

    def _advance(self) -> None:
        tokens = next(iter(self._tokens), None)
        self._finished = tokens is None
        self._waiting += self._decoder.finish() if tokens is None else self._decoder.feed(tokens)
