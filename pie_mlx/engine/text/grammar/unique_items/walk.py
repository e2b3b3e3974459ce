"""A walk over JSON in which items that must differ do."""

import re
from collections.abc import Iterable, Sequence
from typing import cast

from pie_mlx.engine.text.grammar.base import Walk, no_token_fits
from pie_mlx.engine.text.grammar.masks import PackedMask, pack_tokens
from pie_mlx.engine.text.grammar.unique_items.spellings import TokenSpellings, tokens_of
from pie_mlx.engine.text.grammar.unique_items.written import Level, Mode, Openings, Written, key_of
from pie_mlx.errors import GrammarError

_STRING_IN = re.compile(rb'(?:[^"\\]|\\.)*"', re.DOTALL)
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


class UniqueItemsWalk(Walk):
    """The walk of a schema without `uniqueItems`, held to it: a token that completes an item which the array has is not
    allowed, nor one after which every item would be one of those."""

    def __init__(self, inner: Walk, spellings: TokenSpellings, start: Written, openings: Openings = ()) -> None:
        self._inner, self._spellings, self._openings = inner, spellings, openings
        self._history = [start]
        self._open: dict[object, bool] = {}

    def mask(self) -> PackedMask:
        return self._held(self._inner.mask())

    @classmethod
    def masks(cls, walks: Sequence[Walk]) -> Sequence[PackedMask | GrammarError]:
        mine = cast("Sequence[UniqueItemsWalk]", walks)
        inner = [walk._inner for walk in mine]
        return [walk._judged(mask) for walk, mask in zip(mine, type(inner[0]).masks(inner), strict=True)]

    def push(self, tokens: Sequence[int]) -> int:
        taken = self._inner.push(tokens)
        for place, token in enumerate(tokens[:taken]):
            after = self._after(self._history[-1], token)
            if after is None:
                self._inner.pop(taken - place)
                return place
            self._history.append(after)
        return taken

    def pop(self, count: int) -> None:
        self._inner.pop(count)
        if count:
            del self._history[-count:]

    def fork(self) -> "UniqueItemsWalk":
        twin = UniqueItemsWalk(self._inner.fork(), self._spellings, self._history[0], self._openings)
        twin._history, twin._open = list(self._history), self._open
        return twin

    @property
    def forced_text(self) -> bytes:
        return self._inner.forced_text

    @property
    def is_complete(self) -> bool:
        return self._inner.is_complete

    @property
    def is_exhausted(self) -> bool:
        return self._inner.is_exhausted

    def _judged(self, mask: PackedMask | GrammarError) -> PackedMask | GrammarError:
        try:
            return mask if isinstance(mask, GrammarError) else self._held(mask)
        except GrammarError as error:
            return error

    def _held(self, mask: PackedMask) -> PackedMask:
        left, risky = self._split(mask)
        ended = [token for token, after in risky.items() if not self._is_open(token, after)]
        if ended:
            left = left & ~pack_tokens(ended, 32 * len(left))
        if not left.any():
            raise no_token_fits()
        return left

    def _split(self, mask: PackedMask) -> tuple[PackedMask, dict[int, Written]]:
        """A mask without tokens that repeat an item, and those in it after which an item may come to be repeated."""
        left = mask & self._spellings.usual
        written = self._history[-1]
        if all(_has_room(level) and not level.items for level in written.unique_levels):
            return left, {}
        refused = self._repeating_strings(written)
        risky: dict[int, Written] = {}
        for token in self._tried(left, written):
            after = self._after(written, token)
            if after is None:
                refused.append(token)
            elif _begun_again(after):
                risky[token] = after
        return left & ~pack_tokens(refused, 32 * len(left)), risky

    def _repeating_strings(self, written: Written) -> list[int]:
        """Tokens that complete a string or literal which is an item of the innermost array already."""
        level = written.innermost
        if level is None:
            return []
        starts = not written.begun(level)
        rests = (rest for rest in written.rests(level) if not starts or rest[:1] in b'"tfn')
        return [token for rest in rests for token in self._spellings.beginning_with(rest, after_blanks=starts)]

    def _tried(self, mask: PackedMask, written: Written) -> Iterable[int]:
        """The other tokens that may repeat an item, or begin one again."""
        spelled = self._spellings
        if written.innermost is not None and _named(written.innermost) is not None:
            return tokens_of(mask)
        in_string = written.mode in (Mode.STRING, Mode.KEY)
        found = set(tokens_of(mask & (spelled.ends if in_string else spelled.ends | spelled.unquoted)))
        for level in filter(_may_run_out, written.unique_levels):
            for rest in written.rests(level):
                found.update(spelled.beginnings_of(rest, after_blanks=not in_string))
                if string := _STRING_IN.match(rest) if in_string else _STRING.match(rest):
                    found.update(spelled.beginning_with(string[0], after_blanks=not in_string))
        return (token for token in found if mask[token >> 5] >> (token & 31) & 1)

    def _after(self, written: Written, token: int) -> Written | None:
        """What is written after a token; None where an item is repeated, or of those named none is left."""
        after = written.then(self._spellings.bytes_of.get(token, b""), self._openings)
        return None if after is None or _none_is_left(after) else after

    def _is_open(self, token: int, after: Written) -> bool:
        """Whether after a token that begins an item again the grammar leaves another one."""
        place = tuple((level.items, after.begun(level)) for level in after.unique_levels)
        if place not in self._open:
            self._open[place] = False  # blanks lead back to where they are
            self._open[place] = self._leaves_another(token)
        return self._open[place]

    def _leaves_another(self, token: int) -> bool:
        walk = self.fork()
        if not walk.push([token]):
            return False
        try:
            left, risky = walk._split(walk._inner.mask())
        except GrammarError:
            return False
        others = left & ~pack_tokens(list(risky), 32 * len(left))
        return bool(others.any()) or any(walk._is_open(*one) for one in risky.items())


def _named(level: Level) -> list[bytes] | None:
    return level.place.texts if level.place is not None else None


def _has_room(level: Level) -> bool:
    """Whether there is always another item for an array."""
    return level.place is None or level.place.is_roomy


def _may_run_out(level: Level) -> bool:
    """Whether the grammar alone tells if there is another item for an array."""
    return not _has_room(level) and _named(level) is None


def _begun_again(written: Written) -> bool:
    """Whether an item that is there is begun again, where there may be no other."""
    return any(written.rests(level) for level in filter(_may_run_out, written.unique_levels))


def _none_is_left(written: Written) -> bool:
    """Whether of the items that are named all are there which begin as the current one."""
    level = written.innermost
    texts, begun = (_named(level), written.begun(level)) if level is not None else (None, None)
    if level is None or texts is None or begun is None:
        return False
    return not any(text.startswith(begun) and key_of(text) not in level.keys for text in texts)
