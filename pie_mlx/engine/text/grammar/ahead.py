"""Computes masks before they are asked for."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from pie_mlx.engine.text.grammar.base import Matcher, Walk
from pie_mlx.errors import GrammarError


class MasksAhead:
    """Computes the masks of matchers that have moved while their programs look at what they got.

    All masks of a batch are then computed one after the other, most of them without the interpreter lock, and no
    program waits for them before its next token. Belongs to one event loop.
    """

    def __init__(self) -> None:
        self._moved: dict[int, Matcher] = {}

    def moved(self, matchers: Sequence[Matcher]) -> None:
        """These have taken tokens."""
        if matchers and not self._moved:
            loop = asyncio.get_running_loop()
            # Two turns of the loop: with the first of them replies leave.
            loop.call_soon(loop.call_soon, self._compute)
        for matcher in matchers:
            self._moved[id(matcher)] = matcher

    def _compute(self) -> None:
        moved, self._moved = self._moved, {}
        compute_masks(list(moved.values()))


def compute_masks(matchers: Sequence[Matcher]) -> None:
    """Have the matchers, all of one vocabulary, know their next masks. What an engine refuses stays unknown: the
    next request for that mask raises the reason."""
    if len(matchers) == 1:  # gathering takes half as long as its mask
        with suppress(GrammarError):
            matchers[0].packed_mask()
        return
    kinds: dict[type[Walk], list[tuple[Matcher, Walk]]] = {}
    for matcher in matchers:
        if (walk := matcher.awaits) is not None:
            kinds.setdefault(type(walk), []).append((matcher, walk))
    for kind, waiting in kinds.items():
        masks = kind.masks([walk for _, walk in waiting])
        for (matcher, _), mask in zip(waiting, masks, strict=True):
            if not isinstance(mask, GrammarError):
                with suppress(GrammarError):
                    matcher.foretell(mask)
