"""The special tokens that a tokenizer puts around a text, and between two."""

from dataclasses import dataclass
from itertools import groupby

import tokenizers

from pie_mlx.engine.model.encoders.encoder import EncoderInput


@dataclass(frozen=True, slots=True)
class Frame:
    """Tokens before the first text, between two texts, and behind the last one. `typed`: the network sees that the
    second text, with what follows it, is another one."""

    begin: tuple[int, ...] = ()
    middle: tuple[int, ...] = ()
    end: tuple[int, ...] = ()
    typed: bool = False

    @property
    def size(self) -> int:
        """Tokens around one text, or around and between two."""
        return len(self.begin) + len(self.middle) + len(self.end)

    def around(self, text: list[int]) -> EncoderInput:
        """One text."""
        return EncoderInput([*self.begin, *text, *self.end])

    def between(self, first: list[int], second: list[int]) -> EncoderInput:
        """Two texts."""
        before = [*self.begin, *first, *self.middle]
        return EncoderInput([*before, *second, *self.end], len(before) if self.typed else None)


def single_frame(backend: tokenizers.Tokenizer) -> Frame:
    """What the tokenizer puts around one text."""
    begin, _, end = _specials(backend.encode("a"))
    return Frame(begin, (), end)


def pair_frame(backend: tokenizers.Tokenizer, *, typed: bool) -> Frame:
    """What it puts around and between two texts, `typed` where the network has types of tokens."""
    found = backend.encode("a", "a")
    begin, middle, end = _specials(found)
    return Frame(begin, middle, end, typed=typed and any(found.type_ids))


def _specials(encoding: tokenizers.Encoding) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Special tokens at the beginning, between texts, and at the end."""
    marked = list(zip(encoding.ids, encoding.special_tokens_mask, strict=True))
    runs = [(special, tuple(token for token, _ in run)) for special, run in groupby(marked, key=lambda pair: pair[1])]
    begin = runs[0][1] if runs and runs[0][0] else ()
    end = runs[-1][1] if len(runs) > 1 and runs[-1][0] else ()
    middle = tuple(token for special, run in runs[bool(begin) : len(runs) - bool(end)] if special for token in run)
    return begin, middle, end
