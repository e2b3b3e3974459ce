"""From texts to the tokens that a model embeds."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pie_mlx.engine.embedding.frame import Frame
from pie_mlx.engine.kv.pages.record import check_tokens
from pie_mlx.engine.model.encoders.encoder import EncoderInput
from pie_mlx.engine.text.tokens.tokenizer import LONG, Tokenizer
from pie_mlx.errors import ContextLengthError, InvalidArgumentError

T = TypeVar("T")

Steps = Generator[int, None, T]

ROOMY_TOKEN = 16
"""Characters of a token: far more than most tokens have."""


@dataclass(frozen=True, slots=True)
class TextReader:
    """Reads texts for one model, in steps between which others have their turn.

    `longest` counts tokens, special ones included. Texts are `lowered` first where the model was trained so.
    """

    tokenizer: Tokenizer
    frame: Frame
    pair: Frame
    longest: int
    vocabulary_size: int
    lowers: bool = False

    def texts(self, texts: Sequence[str | list[int]], prompt: str, *, truncates: bool) -> Steps[list[EncoderInput]]:
        """Each text behind the prompt, in its special tokens; tokens as they are. Raises InvalidArgumentError,
        ContextLengthError."""
        found: list[EncoderInput] = []
        read = 0
        for place, text in enumerate(texts):
            if isinstance(text, str):
                room, whole = self.longest - self.frame.size, prompt + text if text else ""
                one = self.frame.around((yield from self.fitted(whole, room, place, truncates=truncates)))
            else:
                check_tokens(text, self.vocabulary_size)
                one = EncoderInput(self._fitting(text, self.longest, place, truncates=truncates))
            found.append(one)
            read += len(one)
            if read > LONG // 4:
                yield len(found)
                read = 0
        return found

    def pairs(self, query: str, documents: Sequence[str], *, truncates: bool) -> Steps[list[EncoderInput]]:
        """The query with each document; documents are cut, never the query. Raises as `texts`."""
        whole = self.longest - self.pair.size
        asked = yield from self.fitted(query, whole - 1, -1, truncates=False)
        room = whole - len(asked)
        found: list[EncoderInput] = []
        for place, document in enumerate(documents):
            tokens = yield from self.fitted(document, room, place, truncates=truncates)
            found.append(self.pair.between(asked, tokens))
            yield len(found)
        return found

    def fitted(self, text: str, room: int, place: int, *, truncates: bool, plain: bool = False) -> Steps[list[int]]:
        """The tokens of a text, at most `room`. `place` names it in errors, a negative one the query. In a `plain` text
        special tokens are spelled out."""
        text, roomy = text.lower() if self.lowers else text, ROOMY_TOKEN * (room + 1)
        tokens: list[int] = []
        if len(text) > roomy:
            tokens = yield from self.tokenizer.encoding(text[:roomy], plain=plain)
        if len(text) <= roomy or not (truncates or len(tokens) > room):
            tokens = yield from self.tokenizer.encoding(text, plain=plain)
        return self._fitting(tokens, room, place, truncates=truncates)

    def _fitting(self, tokens: list[int], room: int, place: int, *, truncates: bool) -> list[int]:
        which = "the query" if place < 0 else f"text {place}"
        if not tokens:
            raise InvalidArgumentError(f"embed: {which} has no tokens", hint="leave empty texts out")
        if len(tokens) > room and not truncates:
            raise ContextLengthError(
                f"embed: {which} has at least {len(tokens):,} tokens, there is room for {room:,}",
                hint="embed it in parts, or have it cut with truncate",
            )
        return tokens[:room]
