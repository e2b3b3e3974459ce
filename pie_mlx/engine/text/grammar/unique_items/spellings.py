"""A vocabulary's tokens by their bytes."""

import re
from bisect import bisect_left
from collections.abc import Mapping

import numpy as np

from pie_mlx.engine.text.grammar.masks import PackedMask, pack_tokens

_ITEM_BEHIND = re.compile(rb',\s*(?:"[^"]*"|[-+.0-9A-Za-z]+\s*[,\]}]|true|false|null|[\[{].*[\]}])', re.DOTALL)
_END_OF_STRING = re.compile(rb'"\s*[\]},]')
_BLANKS = b" \t\n\r"


class TokenSpellings:
    """`usual`: all tokens but those that hold a separator and a whole item after it, which shorter ones spell as well.
    `unquoted`: those that begin with no string. `ends`: those that end a string and more."""

    def __init__(self, tokens: Mapping[int, bytes], vocabulary_size: int) -> None:
        self.bytes_of = tokens
        known = sorted((text, token) for token, text in tokens.items() if text and token < vocabulary_size)
        self.longest = max(len(text) for text, _ in known)
        self._ordered = known
        blank = ((text.lstrip(_BLANKS), token) for text, token in known if text[0] in _BLANKS)
        self._after_blanks = sorted(pair for pair in blank if pair[0])

        def mask(pattern: re.Pattern[bytes]) -> PackedMask:
            return pack_tokens([token for text, token in known if pattern.search(text)], vocabulary_size)

        self.usual = ~mask(_ITEM_BEHIND)
        self.unquoted = ~mask(re.compile(rb'\A\s*"'))
        self.ends = mask(_END_OF_STRING)

    def beginning_with(self, text: bytes, *, after_blanks: bool) -> list[int]:
        """Tokens that begin with a text, or with blanks and the text."""
        if len(text) > self.longest:
            return []
        found = _from(self._ordered, text)
        return found + _from(self._after_blanks, text) if after_blanks else found

    def beginnings_of(self, text: bytes, *, after_blanks: bool) -> list[int]:
        """Tokens that are the beginning of a text, or blanks and that."""
        found: list[int] = []
        for end in range(1, min(len(text), self.longest) + 1):
            found += _exactly(self._ordered, text[:end])
            found += _exactly(self._after_blanks, text[:end]) if after_blanks else []
        return found


def _from(ordered: list[tuple[bytes, int]], text: bytes) -> list[int]:
    found: list[int] = []
    for place in range(bisect_left(ordered, (text, -1)), len(ordered)):
        if not ordered[place][0].startswith(text):
            break
        found.append(ordered[place][1])
    return found


def _exactly(ordered: list[tuple[bytes, int]], text: bytes) -> list[int]:
    found: list[int] = []
    for place in range(bisect_left(ordered, (text, -1)), len(ordered)):
        if ordered[place][0] != text:
            break
        found.append(ordered[place][1])
    return found


def tokens_of(mask: PackedMask) -> list[int]:
    """The tokens that a mask allows."""
    words = np.flatnonzero(mask)
    bits = np.unpackbits(mask[words].view(np.uint8).reshape(-1, 4), axis=1, bitorder="little")
    rows, columns = np.nonzero(bits)
    return (words[rows] * 32 + columns).tolist()
