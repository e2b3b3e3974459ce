"""The contract of every grammar engine.

A compiled grammar is immutable and may be shared between threads. A matcher is a walk over one grammar; it belongs to
one owner at a time and is not safe to share. Stop tokens are handled here and never reach an engine: they are allowed
exactly where the grammar may end, and taking one terminates the matcher.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from typing import NamedTuple, Self

import numpy as np

from pie_mlx.calls import Brle
from pie_mlx.engine.text.grammar.masks import PackedMask, mask_to_brle, pack_tokens
from pie_mlx.errors import GrammarError, GrammarRejectedError, InvalidArgumentError


class Freedom(NamedTuple):
    """How long everything is allowed, whatever is drawn: for so many `tokens`, and up to one of `ends`."""

    tokens: int
    ends: frozenset[int] = frozenset()


NO_FREEDOM = Freedom(0)


def no_token_fits() -> GrammarError:
    """The error for a place in a grammar that the model cannot get past."""
    return GrammarError(
        "grammar: allows no text that the vocabulary can spell from here",
        hint="look for contradictions, endless recursion, and characters that the model has no tokens for",
    )


def _mask_or_refusal(walk: "Walk") -> "PackedMask | GrammarError":
    try:
        return walk.mask()
    except GrammarError as error:
        return error


class Walk(ABC):
    """An engine's walk over the text of a grammar, without stop tokens.

    `mask` and `push` are called only while something may follow. What an engine raises here is a GrammarError; one that
    finds no token to allow raises `no_token_fits()`.
    """

    @abstractmethod
    def mask(self) -> PackedMask:
        """[words] uint32, not to be written to: the tokens allowed next, stop tokens included where the grammar may
        end."""

    @classmethod
    def masks(cls, walks: "Sequence[Walk]") -> "Sequence[PackedMask | GrammarError]":
        """`mask` of each of several walks of this class; where the engine refuses, the error."""
        return [_mask_or_refusal(walk) for walk in walks]

    @abstractmethod
    def push(self, tokens: Sequence[int]) -> int:
        """Take tokens until one is forbidden; the number taken."""

    @abstractmethod
    def pop(self, count: int) -> None:
        """Take back the last `count` tokens; there are as many."""

    @abstractmethod
    def fork(self) -> "Walk":
        """An independent copy."""

    @property
    def freedom(self) -> Freedom:
        """How long it forbids nothing, as far as it knows."""
        return NO_FREEDOM

    @property
    def forced_text(self) -> bytes:
        """What must follow, however it is cut into tokens, as far as it knows."""
        return b""

    @property
    def innermost(self) -> "Walk":
        """The walk that computes the masks of this one."""
        return self

    @property
    @abstractmethod
    def is_complete(self) -> bool:
        """Whether the text so far is whole."""

    @property
    @abstractmethod
    def is_exhausted(self) -> bool:
        """Whether the engine knows that nothing may follow; it may find out only with the next mask."""


class Matcher:
    """A walk with its stop tokens. Rolling back is unlimited, forking takes microseconds.

    `warnings`: what of the grammar is not enforced, for one compiled leniently.
    """

    def __init__(
        self, walk: Walk, stop_tokens: Sequence[int], vocabulary_size: int, warnings: Sequence[str] = ()
    ) -> None:
        self._walk = walk
        self.warnings = tuple(warnings)
        self.stop_tokens = tuple(stop_tokens)
        self._ends = frozenset(stop_tokens)
        self._stop_bits = [(token >> 5, 1 << (token & 31)) for token in self.stop_tokens]
        self.vocabulary_size = vocabulary_size
        self._taken: int = 0
        self._moves: int = 0
        self._forked_at: int = 0
        self._stopped = False
        self._mask: PackedMask | None = None

    def packed_mask(self) -> PackedMask:
        """[words] uint32, not to be written to: the tokens allowed next; once terminated, the stop tokens alone."""
        if self._mask is None:
            self._mask = self._compute_mask()
        return self._mask

    @property
    def freedom(self) -> Freedom:
        """How long it forbids nothing, as far as it knows."""
        return self._walk.freedom

    @property
    def forced_text(self) -> bytes:
        """What must follow, however it is cut into tokens, as far as it knows."""
        return b"" if self._stopped or self._walk.is_exhausted else self._walk.innermost.forced_text

    @property
    def awaits(self) -> Walk | None:
        """The walk that is to compute the next mask; None while that is known."""
        return None if self._mask is not None or self._stopped or self._walk.is_exhausted else self._walk.innermost

    def foretell(self, mask: PackedMask) -> None:
        """Take the next mask, as the walk it awaits has computed it. Raises GrammarError where it allows nothing."""
        self._mask = self._without_false_stops(mask)

    def brle_mask(self) -> Brle:
        """The mask as run lengths."""
        return mask_to_brle(self.packed_mask(), self.vocabulary_size)

    def accept(self, tokens: Sequence[int]) -> None:
        """Feed tokens. Raises GrammarRejectedError, and stays as it was, when one of them is forbidden."""
        taken = self.try_accept(tokens)
        if taken < len(tokens):
            if taken:
                self.rollback(taken)
            raise GrammarRejectedError(
                f"grammar: token {tokens[taken]} is not allowed after {self._taken + taken} tokens",
                hint="sample under the matcher's mask",
            )

    def try_accept(self, tokens: Sequence[int]) -> int:
        """Feed tokens up to the first forbidden one; the number taken."""
        if self._stopped or not tokens:
            return 0
        taken = self._walk.push(tokens) if self._ends.isdisjoint(tokens) else self._accept_with_stop(tokens)
        self._moved(taken)
        return taken

    def _accept_with_stop(self, tokens: Sequence[int]) -> int:
        stop = next(place for place, token in enumerate(tokens) if token in self._ends)
        taken = self._walk.push(tokens[:stop]) if stop else 0
        if taken == stop and self._walk.is_complete:
            self._stopped = True
            taken += 1
        return taken

    def rollback(self, count: int) -> None:
        """Take back the last `count` tokens. Raises InvalidArgumentError for more than were taken."""
        if not 0 <= count <= self._taken:
            raise InvalidArgumentError(
                f"rollback: {count} tokens, the matcher has taken {self._taken}", hint="roll back what was accepted"
            )
        if count:
            self._walk.pop(count - self._stopped)
            self._stopped = False
            self._moved(-count)

    def reset(self) -> None:
        """Take back everything."""
        self.rollback(self._taken)

    def fork(self) -> Self:
        """An independent copy."""
        twin = copy(self)
        twin._walk = self._walk.fork()
        twin._forked_at = self._moves
        return twin

    def around(self, wrap: Callable[[Walk], Walk]) -> "Matcher":
        """A fresh matcher whose walk is made from a copy of this one's."""
        return Matcher(wrap(self._walk.fork()), self.stop_tokens, self.vocabulary_size, self.warnings)

    def follow(self, fork: Self, tokens: int) -> bool:
        """Go to where `fork`, which is not used any more, is; False, and stay, unless it has taken so many `tokens`
        since it was made and this matcher none."""
        if fork._forked_at != self._moves or fork._taken != self._taken + tokens:
            return False
        self._walk, self._stopped = fork._walk, fork._stopped
        self._mask, self._taken = fork._mask, fork._taken
        self._moves += 1
        return True

    @property
    def taken(self) -> int:
        """The number of tokens taken."""
        return self._taken

    @property
    def is_complete(self) -> bool:
        """Whether the text may end here."""
        return self._walk.is_complete

    @property
    def is_terminated(self) -> bool:
        """Whether a stop token was taken, or nothing may follow (G13)."""
        if self._stopped:
            return True
        return self._walk.is_complete and (self._walk.is_exhausted or self._only_stops())

    def _only_stops(self) -> bool:
        return not np.any(self.packed_mask() & ~self._stop_mask())

    def _compute_mask(self) -> PackedMask:
        walk = self._walk
        if self._stopped or (walk.is_exhausted and walk.is_complete):
            return self._stop_mask()
        return self._without_false_stops(walk.mask())

    def _without_false_stops(self, mask: PackedMask) -> PackedMask:
        """A stop token that is text as well may end the grammar, and be nothing else (G13)."""
        for word, bit in self._stop_bits:
            if mask.item(word) & bit and not self._walk.is_complete:
                rest = mask & ~self._stop_mask()
                if not rest.any():
                    raise no_token_fits()
                return rest
        return mask

    def _stop_mask(self) -> PackedMask:
        return pack_tokens(self.stop_tokens, self.vocabulary_size)

    def _moved(self, by: int) -> None:
        self._taken += by
        if by:
            self._mask = None
            self._moves += 1
