"""A grammar that begins behind a thought: what comes before is free."""

from collections.abc import Mapping, Sequence
from functools import cached_property

from pie_mlx.engine.text.grammar.base import Matcher, Walk
from pie_mlx.engine.text.grammar.masks import PackedMask, pack_tokens


class Thoughts:
    """Makes matchers that wait for the end of a thought. `tokens` are the bytes of each token."""

    def __init__(self, tokens: Mapping[int, bytes], vocabulary_size: int) -> None:
        self._tokens = tokens
        self._vocabulary_size = vocabulary_size

    def before(self, matcher: Matcher, closing: str) -> Matcher:
        """A fresh matcher that allows any text up to `closing`, and then what `matcher`, which has taken nothing, does.

        The thought holds no stop token, as one is allowed only where the grammar may end (G13).
        """
        return matcher.around(lambda walk: ThoughtWalk(walk, closing.encode(), self._tokens, self._free))

    @cached_property
    def _free(self) -> PackedMask:
        return pack_tokens([token for token in self._tokens if token < self._vocabulary_size], self._vocabulary_size)


class ThoughtWalk(Walk):
    """A walk that waits until `closing` has been written. The closing may be one token, several, or end one.

    `free` is the mask while it waits.
    """

    def __init__(self, walk: Walk, closing: bytes, tokens: Mapping[int, bytes], free: PackedMask) -> None:
        self._walk = walk
        self._closing = closing
        self._tokens = tokens
        self._free = free
        self._thought: list[int] = []
        self._is_open = True
        self._behind = 0

    def fill(self, row: PackedMask) -> bool:
        if not self._is_open:
            return self._walk.fill(row)
        row[:] = self._free
        return True

    def push(self, tokens: Sequence[int]) -> int:
        thought = self._think(tokens)
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
        copy = ThoughtWalk(self._walk.fork(), self._closing, self._tokens, self._free)
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
            if not self._is_open:
                return count
            self._thought.append(token)
            # Every token has a byte at least, so that no more of them can hold the closing.
            last = self._thought[-len(self._closing) :]
            self._is_open = self._closing not in b"".join(self._tokens.get(one, b"") for one in last)
        return len(tokens)
