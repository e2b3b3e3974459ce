"""A grammar that begins behind a thought: what comes before is free."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from pie_mlx.engine.text.grammar.base import Matcher, Walk
from pie_mlx.engine.text.grammar.masks import PackedMask, pack_tokens


class Letters:
    """Texts as they are compared: one letter for each byte, and one for each of `marks`, the tokens that a decoder
    knows by themselves: their text, spelled in other tokens, is none of them."""

    def __init__(self, tokens: Mapping[int, bytes], marks: Collection[int]) -> None:
        self._tokens = tokens
        self._marks = {tokens[mark]: chr(256 + mark) for mark in marks}
        self._mark_of = {mark: chr(256 + mark) for mark in marks}

    def of(self, token: int) -> str:
        """The letters of a token; "" of one that the tokenizer does not have."""
        return self._mark_of.get(token) or self._tokens.get(token, b"").decode("latin-1")

    def spell(self, text: str) -> str:
        """The letters of a text, in which the marks are meant."""
        parts = re.split(b"(" + b"|".join(map(re.escape, self._marks)) + b")", text.encode())
        return "".join(self._marks.get(part) or part.decode("latin-1") for part in parts)


@dataclass(frozen=True)
class Closing:
    """What ends a thought, in `letters`, and the masks of the tokens before. `finish` allows a last letter that is a
    mark: once all others are there, nothing else may follow. gpt-oss may have more to say in the header of a message,
    and no grammar would begin behind such a one."""

    letters: str
    free: PackedMask
    finish: PackedMask | None = None

    def mask(self, before: str) -> PackedMask:
        """The tokens allowed behind `before`, the last letters of a thought."""
        return self.free if self.finish is None or not self._is_due(before) else self.finish

    def allows(self, before: str, token: str) -> bool:
        """Whether the letters of a token may follow `before`."""
        return token == self.letters[-1] if self.finish is not None and self._is_due(before) else bool(token)

    def _is_due(self, before: str) -> bool:
        return before.endswith(self.letters[:-1])


class Thoughts:
    """Makes matchers that wait for the end of a thought. `tokens` are the bytes of each token, `marks` those that are
    no text."""

    def __init__(self, tokens: Mapping[int, bytes], vocabulary_size: int, marks: Collection[int] = ()) -> None:
        self._tokens = tokens
        self._vocabulary_size = vocabulary_size
        self._marks = frozenset(marks)
        self._letters = Letters(tokens, self._marks)
        self._closing = lru_cache(maxsize=16)(self._derive_closing)

    def before(self, matcher: Matcher, closing: str) -> Matcher:
        """A fresh matcher that allows any text up to `closing`, and then what `matcher`, which has taken nothing, does.

        The thought holds no stop token, as one is allowed only where the grammar may end (G13).
        """
        return matcher.around(lambda walk: ThoughtWalk(walk, self._closing(closing), self._letters))

    def _derive_closing(self, text: str) -> Closing:
        letters = self._letters.spell(text)
        last = [mark for mark in self._marks if self._letters.of(mark) == letters[-1]]
        finish = pack_tokens(last, self._vocabulary_size) if last and len(letters) > 1 else None
        return Closing(letters, self._free, finish)

    @cached_property
    def _free(self) -> PackedMask:
        return pack_tokens([token for token in self._tokens if token < self._vocabulary_size], self._vocabulary_size)


class ThoughtWalk(Walk):
    """A walk that waits until `closing` has been written. The closing may be one token, several, or end one."""

    def __init__(self, walk: Walk, closing: Closing, letters: Letters) -> None:
        self._walk = walk
        self._closing = closing
        self._letters = letters
        self._thought: list[int] = []
        self._is_open = True
        self._behind = 0

    def fill(self, row: PackedMask) -> bool:
        if not self._is_open:
            return self._walk.fill(row)
        row[:] = self._closing.mask(self._last_letters())
        return True

    def push(self, tokens: Sequence[int]) -> int:
        thought = self._think(tokens)
        if self._is_open:
            return thought
        taken = self._walk.push(tokens[thought:]) if thought < len(tokens) else 0
        self._behind += taken
        return thought + taken

    def pop(self, count: int) -> None:
        behind = min(count, self._behind)
        if behind:
            self._walk.pop(behind)
            self._behind -= behind
        if count > behind:
            del self._thought[behind - count :]
            self._is_open = True

    def fork(self) -> Walk:
        copy = ThoughtWalk(self._walk.fork(), self._closing, self._letters)
        copy._thought, copy._is_open, copy._behind = list(self._thought), self._is_open, self._behind
        return copy

    @property
    def is_settled(self) -> bool:
        return self._walk.is_settled

    @property
    def innermost(self) -> Walk:
        return self if self._is_open else self._walk.innermost

    @property
    def is_complete(self) -> bool:
        return not self._is_open and self._walk.is_complete

    @property
    def is_exhausted(self) -> bool:
        return not self._is_open and self._walk.is_exhausted

    def _think(self, tokens: Sequence[int]) -> int:
        """Take tokens while the thought is open; the number taken."""
        for count, token in enumerate(tokens):
            if not self._is_open or not self._closing.allows(self._last_letters(), self._letters.of(token)):
                return count
            self._thought.append(token)
            self._is_open = self._closing.letters not in self._last_letters()
        return len(tokens)

    def _last_letters(self) -> str:
        """So many that the closing can be seen: every token has a letter at least."""
        return "".join(map(self._letters.of, self._thought[-len(self._closing.letters) :]))
