"""Guesses at text that a grammar leaves no choice about, but for its blanks and how it is cut into tokens."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pie_mlx.engine.text.grammar.base import Matcher
from pie_mlx.engine.text.grammar.masks import PackedMask
from pie_mlx.engine.text.tokens.tokenizer import Tokenizer
from pie_mlx.errors import GrammarError

MOST_BYTES = 96
"""Bytes of one guess: more than sixteen tokens of JSON."""

RECENT = 256
"""Tokens before a guess that tell which blanks the text has."""

FEW_WORDS = 64
"""A mask with bits in more words is of text that the grammar leaves open."""

FEWEST_BYTES = 6
"""Bytes of a guess for which steps end: fewer are about two tokens, for which a new pass gains nothing."""

_BLANKS = b" \t\r\n"
_NO_BYTE = 256


class Foresight:
    """What must come next, byte by byte: with the blanks that stood in such a place before, and cut into tokens as the
    tokenizer cuts it. Nothing but a guess: a model may put other blanks, and cut in another way."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer, self._spelled = tokenizer, tokenizer.bytes_by_id.tokens

    def tokens(self, matcher: Matcher, last: int, recent: Callable[[], Sequence[int]]) -> list[int]:
        """Tokens likely to follow the `last` one, after which the matcher stands; [] where the text is open.

        `recent()` answers those before and the last one, as many as RECENT."""
        return self._cut(last, self._ahead(matcher, lambda: self._text(recent())))

    def is_near(self, matcher: Matcher) -> bool:
        """Whether a guess where the matcher stands would be of some length, in whatever blanks."""
        return len(self._ahead(matcher, bytes)) >= FEWEST_BYTES

    def _ahead(self, matcher: Matcher, before: Callable[[], bytes]) -> bytes:
        """What must follow the text `before()`."""
        place, written, text = matcher, b"", None
        try:
            while len(written) < MOST_BYTES and not place.is_terminated:
                added = place.forced_text[: MOST_BYTES - len(written)]
                if not added:
                    following = self._following(place.packed_mask())
                    if not following:
                        break
                    text = before() if text is None else text
                    added = _after(text + written, following)
                place = matcher.fork() if place is matcher else place
                if not added or not self._push(place, added):
                    break
                written += added
        except GrammarError:
            pass  # plain decoding says so when it comes to it
        return written

    def _push(self, fork: Matcher, text: bytes) -> bool:
        tokens = [self._single.get(byte) for byte in text]
        known = [token for token in tokens if token is not None]
        return len(known) == len(tokens) and fork.try_accept(known) == len(known)

    def _cut(self, last: int, written: bytes) -> list[int]:
        before = self._spelled.get(last, b"").decode(errors="ignore")
        text = written.decode(errors="ignore")
        if not text:
            return []
        together = self._tokenizer.encode_plain(before + text)
        return together[1:] if together[:1] == [last] else self._tokenizer.encode_plain(text)

    def _text(self, tokens: Sequence[int]) -> bytes:
        return b"".join([self._spelled.get(token, b"") for token in tokens])

    def _following(self, mask: PackedMask) -> frozenset[int]:
        """The bytes with which allowed tokens begin; none where many are allowed."""
        words = np.flatnonzero(mask)
        if len(words) > FEW_WORDS:
            return frozenset()
        rows, bits = np.nonzero(np.unpackbits(mask[words].view(np.uint8), bitorder="little").reshape(-1, 32))
        return frozenset(np.unique(self._first[words[rows] * 32 + bits]).tolist())

    @cached_property
    def _first(self) -> NDArray[np.uint16]:
        """[tokens] the first byte of each."""
        first = np.full(32 * (max(self._spelled, default=0) // 32 + 1), _NO_BYTE, np.uint16)
        for token, text in self._spelled.items():
            if text:
                first[token] = text[0]
        return first

    @cached_property
    def _single(self) -> dict[int, int]:
        """Tokens of one byte, by that."""
        hidden = self._tokenizer.markup_ids
        return {text[0]: token for token, text in self._spelled.items() if len(text) == 1 and token not in hidden}


def _after(text: bytes, following: frozenset[int]) -> bytes:
    """What comes after `text`, blanks and one byte, where that is one of `following`; b"" where it cannot be told."""
    solid = following.difference(_BLANKS)
    next_one = bytes(solid) if len(solid) == 1 and _NO_BYTE not in solid else b""
    if len(solid) == len(following) or text[-1:].isspace():
        return next_one
    return _usual_blanks(text, next_one) + next_one


def _usual_blanks(text: bytes, next_one: bytes) -> bytes:
    """The blanks at the last such place in the text: behind the same mark, or before the same next one."""
    last = text[-1:]
    if last in (b",", b":", b"{", b"["):
        before = re.findall(re.escape(last) + rb"([ \t\r\n]*)(?=[^ \t\r\n])", text)
        usual = b" " if last in (b",", b":") else b""
    else:
        before = re.findall(rb"[^ \t\r\n]([ \t\r\n]*)" + re.escape(next_one), text) if next_one else []
        usual = b""
    return before[-1] if before else usual
