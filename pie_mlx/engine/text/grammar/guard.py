"""Protection from grammars on which one engine is a thousand times slower than the other."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pie_mlx.engine.text.grammar.base import Walk
from pie_mlx.engine.text.grammar.masks import PackedMask
from pie_mlx.errors import GrammarError

_SAMPLE = 8
_LIMIT_SECONDS = 5e-3

Rebuild = Callable[[], Walk]
Notify = Callable[[float], None]
"""Told the mean seconds of a mask when a walk moves."""


def ignore(mask_seconds: float) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class Verdict:
    """Whether some walk over a grammar has shown that its masks are quick. The others need no trial then."""

    is_quick: bool = False


class GuardedWalk(Walk):
    """A walk that moves to the other engine if the first masks take more than 5 ms each. The text allowed is the same.

    `notify` is told when the other engine has taken over; `clock` gives seconds. All forks share one verdict.
    """

    def __init__(
        self,
        walk: Walk,
        rebuild: Rebuild,
        notify: Notify = ignore,
        tokens: Sequence[int] = (),
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._walk = walk
        self._rebuild: Rebuild | None = rebuild
        self._notify = notify
        self._tokens = list(tokens)
        self._clock = clock
        self._verdict = Verdict()
        self._masks = 0
        self._seconds = 0.0

    def fill(self, row: PackedMask) -> bool:
        if self._rebuild is None or self._verdict.is_quick:
            return self._walk.fill(row)
        start = self._clock()
        restricts = self._walk.fill(row)
        self._seconds += self._clock() - start
        self._masks += 1
        if self._masks >= _SAMPLE:
            self._judge(self._rebuild)
        return restricts

    def push(self, tokens: Sequence[int]) -> int:
        taken = self._walk.push(tokens)
        self._tokens += tokens[:taken]
        return taken

    def pop(self, count: int) -> None:
        self._walk.pop(count)
        del self._tokens[len(self._tokens) - count :]

    def fork(self) -> "Walk":
        copy = GuardedWalk(self._walk.fork(), _never, self._notify, self._tokens, self._clock)
        copy._rebuild, copy._masks, copy._seconds = self._rebuild, self._masks, self._seconds
        copy._verdict = self._verdict
        return copy

    @property
    def is_settled(self) -> bool:
        return self._rebuild is None or self._verdict.is_quick

    @property
    def innermost(self) -> Walk:
        return self._walk.innermost if self.is_settled else self

    @property
    def is_complete(self) -> bool:
        return self._walk.is_complete

    @property
    def is_exhausted(self) -> bool:
        return self._walk.is_exhausted

    def _judge(self, rebuild: Rebuild) -> None:
        self._rebuild = None
        mask_seconds = self._seconds / self._masks
        if mask_seconds <= _LIMIT_SECONDS:
            self._verdict.is_quick = True
            return
        try:
            other = rebuild()
        except GrammarError:
            return
        if other.push(self._tokens) == len(self._tokens):
            self._walk = other
            self._notify(mask_seconds)


def _never() -> Walk:
    raise GrammarError("grammar: cannot be rebuilt")
