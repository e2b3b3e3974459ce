"""Long texts to ids, a piece at a time.

A text as a whole takes some 250 bytes of memory per character and cannot be given up. The ids are those of the whole:
a piece ends where no token can cross, and is read with some of the text around it.
"""

import os
from array import array
from collections.abc import Generator
from functools import cached_property
from itertools import islice, pairwise

import tokenizers

from pie_mlx.errors import InvalidArgumentError

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # what is encoded stays on its thread, and its priority

PIECE = 1 << 16
"""Characters of a piece: some 20 ms, and 20 MB."""
LONGEST_PIECE = 1 << 20
"""Characters without a place to end a piece."""
MARGIN = 512
"""Characters around a piece that are read with it: rules of tokenizers look ahead by a character or two."""
TRIES = 16
"""Places that are tried for the end of a piece before the piece grows."""
WITNESSES = 4
"""Tokens on either side of such a place that come out the same when less is read around it."""

Steps = Generator[int, None, list[int]]
"""Yields how many ids there are so far, returns them."""


class _Read:
    """A part of a text as the backend encodes it: `ids`, and where each token is, from the beginning of the part."""

    def __init__(self, backend: tokenizers.Tokenizer, text: str) -> None:
        # Unlike `encode`, this lets other threads run meanwhile.
        self.encoding = backend.encode_batch([text], add_special_tokens=False)[0]
        self.ids = self.encoding.ids

    def start(self, index: int) -> int:
        """The place of a token; -1 for one that covers no text."""
        chars = self.encoding.token_to_chars(index)
        return -1 if chars is None else chars[0]

    def token_at(self, place: int) -> int | None:
        """The token that begins there."""
        index = self.encoding.char_to_token(place)
        return index if index is not None and self.start(index) == place else None

    def token_before(self, place: int, farthest: int) -> int | None:
        """The last token at or before a place: no token covers white space that was trimmed."""
        places = range(place, max(place - farthest, 0), -1)
        return next((index for one in places if (index := self.encoding.char_to_token(one)) is not None), None)

    def around(self, index: int) -> list[int]:
        return self.ids[max(0, index - WITNESSES) : index + WITNESSES]


class PieceEncoder:
    """Encodes with one backend. Immutable, so any thread may use it."""

    def __init__(
        self,
        backend: tokenizers.Tokenizer,
        *,
        piece: int = PIECE,
        margin: int = MARGIN,
        longest_piece: int = LONGEST_PIECE,
    ) -> None:
        self._backend = backend
        self._piece, self._longest_piece = piece, longest_piece
        added = backend.get_added_tokens_decoder().values()
        self._margin = max(margin, 2 * max((len(token.content) for token in added), default=0))

    def steps(self, text: str) -> Steps:
        """Raises InvalidArgumentError for a text with nowhere to cut among `longest_piece` characters."""
        found, start, size = array("I"), 0, self._piece
        while True:
            left, right = max(0, start - self._margin), min(len(text), start + size + self._margin)
            read = _Read(self._backend, text[left:right])
            first = read.token_at(start - left) if start else 0
            if first is None:  # what comes far after changes where tokens end: no tokenizer is known to do so
                return _Read(self._backend, text).ids
            if right == len(text):
                found.extend(read.ids[first:])
                return found.tolist()
            index = self._end(text, read, first, left, size + start - left)
            if index is None:
                size = self._grown(size)
            else:
                found.extend(read.ids[first:index])
                start, size = left + read.start(index), self._piece
            yield len(found)

    def _grown(self, size: int) -> int:
        if 2 * size > self._longest_piece:
            raise InvalidArgumentError(
                f"encode: among {size:,} characters there is no place where no token can cross",
                hint="encode the text in parts",
            )
        return 2 * size

    def _end(self, text: str, read: _Read, first: int, left: int, most: int) -> int | None:
        """The first token past the piece, which ends after `most` characters of what was read, or before."""
        last = read.token_before(most, self._margin)
        if last is None:
            return None
        ends = (index for index in range(last, first + WITNESSES, -1) if self._is_end(text, read, index, left))
        return next((index for index in islice(ends, TRIES) if self._is_certain(text, read, index, left)), None)

    def _is_end(self, text: str, read: _Read, index: int, left: int) -> bool:
        """Whether no token could cross this place: another word begins here, or no token has both neighbours.

        Never inside of digits, spaces and the like: where they are grouped depends on where they begin.
        """
        before, after = read.encoding.token_to_chars(index - 1), read.encoding.token_to_chars(index)
        if before is None or after is None or not before[1] <= after[0] < after[1]:
            return False
        if _kind(text[left + after[0] - 1]) == _kind(text[left + after[0]]):
            return False
        if read.encoding.token_to_word(index - 1) != read.encoding.token_to_word(index):
            return True
        one, other = (self._backend.id_to_token(read.ids[place]) or "" for place in (index - 1, index))
        return one[-1:] + other[:1] not in self._pairs

    def _is_certain(self, text: str, read: _Read, index: int, left: int) -> bool:
        """Whether the tokens here are the same when less is read before them."""
        place = left + read.start(index)
        near = max(0, place - self._margin)
        again = _Read(self._backend, text[near : place + self._margin])
        other = again.token_at(place - near)
        return other is not None and again.around(other) == read.around(index)

    @cached_property
    def _pairs(self) -> frozenset[str]:
        """Neighbours inside of tokens. Two characters that are none are never joined."""
        return frozenset(one + other for token in self._backend.get_vocab() for one, other in pairwise(token))


def _kind(character: str) -> tuple[bool, bool, bool]:
    return character.isalpha(), character.isnumeric(), character.isspace()
