"""A host that knows how a model speaks and nothing else: real tokenizers, templates and parsers behind the border."""

from contextlib import suppress
from functools import singledispatchmethod
from typing import Any

import msgspec

from pie_mlx import calls
from pie_mlx.engine.text.conversation.chat import ChatRenderer
from pie_mlx.errors import InvalidArgumentError, PieError


class SpeakingHost:
    """Counts the calls it answers by type."""

    def __init__(self, chat: ChatRenderer) -> None:
        self.chat = chat
        self.answered: list[type] = []

    def call(self, message: calls.Call[Any]) -> Any:
        self.answered.append(type(message))
        return self.answer(msgspec.msgpack.decode(msgspec.msgpack.encode(message), type=type(message)))

    async def submit(self, message: calls.Call[Any]) -> Any:
        return self.call(message)

    def post(self, message: calls.Call[Any]) -> None:
        with suppress(PieError):
            self.call(message)

    @singledispatchmethod
    def answer(self, message: Any) -> Any:
        raise InvalidArgumentError(f"{type(message).__name__}: unknown call")

    @answer.register
    def _(self, message: calls.LoadModel) -> calls.ModelInfo:
        return calls.ModelInfo(message.name, self.chat.tokenizer.size, 16, 4096, self.chat.formats())

    @answer.register
    def _(self, message: calls.ReadVocabulary) -> calls.Vocabulary:
        return self.chat.tokenizer.vocabulary()

    @answer.register
    def _(self, message: calls.Encode) -> list[int]:
        return self.chat.tokenizer.encode(message.text)

    @answer.register
    def _(self, message: calls.Decode) -> str:
        return self.chat.tokenizer.decode(message.tokens)

    @answer.register
    def _(self, message: calls.RenderTurn) -> calls.RenderedTurn:
        return self.chat.render(message.turn, message.state)

    @answer.register
    def _(self, message: calls.ParseToolCall) -> list[calls.ParsedToolCall]:
        return self.chat.parse_calls(message.text, message.schemas)
