"""A grammar that begins after a thought: what comes before is free."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pie_mlx.engine.text.grammar.base import Matcher, Walk
from pie_mlx.engine.text.grammar.cache import CompileCache
from pie_mlx.engine.text.grammar.masks import PackedMask, pack_tokens
from pie_mlx.errors import GrammarError

_CLOSINGS = 16


class Letters:
    """Texts as they are compared: one letter for each byte, and one for each of `marks`, the tokens that a decoder
    knows by their ids: their text, spelled in other tokens, is none of them."""

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
    """What ends a thought, in `letters`, and the masks of the tokens before.

    No token may write the closing and go on: the grammar would not judge the rest of that token. `free` leaves out the
    tokens that hold all of the closing, `barred` those that complete it, by how many letters of it come before them.
    `finish` allows a last letter that is a mark: once all others are there, nothing else may follow. gpt-oss may say
    more in the header of a message, and no grammar would begin after such a one.
    """

    letters: str
    free: PackedMask
    barred: Mapping[int, PackedMask]
    finish: PackedMask | None = None

    def mask(self, before: str) -> PackedMask:
        """The tokens allowed after `before`, the last letters of a thought."""
        if self.finish is not None and self._is_due(before):
            return self.finish
        mask = self.free
        for count, tokens in self.barred.items():
            if before.endswith(self.letters[:count]):
                mask = mask & ~tokens
        return mask

    def allows(self, before: str, token: str) -> bool:
        """Whether the letters of a token may follow `before`."""
        if self.finish is not None and self._is_due(before):
            return token == self.letters[-1]
        return bool(token) and not (before + token).partition(self.letters)[2]

    def _is_due(self, before: str) -> bool:
        return before.endswith(self.letters[:-1])


class Thoughts:
    """Makes matchers that wait for the end of a thought. `tokens` are the bytes of each token, `marks` those that are
    no text. Safe to use from any thread."""

    def __init__(self, tokens: Mapping[int, bytes], vocabulary_size: int, marks: Collection[int] = ()) -> None:
        self._tokens = tokens
        self._vocabulary_size = vocabulary_size
        self._marks = frozenset(marks)
        self._letters = Letters(tokens, self._marks)
        self._closings = CompileCache[Closing](_CLOSINGS)

    def knows(self, closing: str) -> bool:
        """Whether a closing is at hand: another one takes tenths of a second, as every token is looked at."""
        return self._closings.peek(closing) is not None

    def before(self, matcher: Matcher, closing: str) -> Matcher:
        """A fresh matcher that allows any text up to `closing`, and then what `matcher`, which has taken nothing, does.

        The thought holds no stop token, as one is allowed only where the grammar may end (G13). Raises GrammarError for
        a closing that the tokens cannot spell.
        """
        found = self._closings.get(closing, 1, lambda: self._derive(closing))
        return matcher.around(lambda walk: ThoughtWalk(walk, found, self._letters))

    def _derive(self, text: str) -> Closing:
        letters = self._letters.spell(text)
        self._check_spelled(text, letters)
        last = [mark for mark in self._marks if self._letters.of(mark) == letters[-1]]
        barred = {} if last else self._completing(letters)
        free = self._free & ~barred.pop(0) if 0 in barred else self._free
        return Closing(letters, free, barred, self._packed(last) if last and len(letters) > 1 else None)

    def _check_spelled(self, text: str, letters: str) -> None:
        """Letter by letter, a closing can be written wherever a thought stands, whatever is barred there."""
        if text.encode() not in self._spellings and not all(letter in self._letters_alone for letter in letters):
            raise GrammarError(f"after: the model has no tokens for {text!r}", hint="give a text that it can write")

    def _completing(self, letters: str) -> dict[int, PackedMask]:
        """The tokens that write the last letter of the closing and more, by how many letters must be there before."""
        last, found = letters[-1].encode("latin-1"), defaultdict[int, list[int]](list)
        for token, text in self._tokens.items():
            if text.find(last, 0, len(text) - 1) >= 0 and token not in self._marks:
                for count in _needed(text.decode("latin-1"), letters):
                    found[count].append(token)
        return {count: self._packed(tokens) for count, tokens in found.items()}

    def _packed(self, tokens: Collection[int]) -> PackedMask:
        return pack_tokens([token for token in tokens if token < self._vocabulary_size], self._vocabulary_size)

    @cached_property
    def _free(self) -> PackedMask:
        return self._packed([token for token, text in self._tokens.items() if text])

    @cached_property
    def _spellings(self) -> frozenset[bytes]:
        return frozenset(self._tokens.values())

    @cached_property
    def _letters_alone(self) -> frozenset[str]:
        return frozenset(letter for token in self._tokens if len(letter := self._letters.of(token)) == 1)


def _needed(token: str, closing: str) -> Iterator[int]:
    """How many letters of the closing must stand before a token, so that it completes it and has letters after."""
    for end in range(1, len(token)):
        if closing.endswith(part := token[max(0, end - len(closing)) : end]):
            yield len(closing) - len(part)


class ThoughtWalk(Walk):
    """A walk that waits until `closing` has been written. The closing may be one token, several, or end one."""

    def __init__(self, walk: Walk, closing: Closing, letters: Letters) -> None:
        self._walk = walk
        self._closing = closing
        self._letters = letters
        self._thought: list[int] = []
        self._is_open = True
        self._after = 0

    def mask(self) -> PackedMask:
        return self._closing.mask(self._last_letters()) if self._is_open else self._walk.mask()

    def push(self, tokens: Sequence[int]) -> int:
        thought = self._think(tokens)
        if self._is_open:
            return thought
        taken = self._walk.push(tokens[thought:]) if thought < len(tokens) else 0
        self._after += taken
        return thought + taken

    def pop(self, count: int) -> None:
        after = min(count, self._after)
        if after:
            self._walk.pop(after)
            self._after -= after
        if count > after:
            del self._thought[after - count :]
            self._is_open = True

    def fork(self) -> Walk:
        copy = ThoughtWalk(self._walk.fork(), self._closing, self._letters)
        copy._thought, copy._is_open, copy._after = list(self._thought), self._is_open, self._after
        return copy

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
