"""Tokens that grammars leave no choice about."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from pie_mlx.engine.text.grammar.base import Matcher
from pie_mlx.engine.text.grammar.masks import PackedMask
from pie_mlx.engine.text.logit_mask import allowed_next, only_token
from pie_mlx.errors import EmptyMaskError, GrammarError


class ForcedRun(NamedTuple):
    """`tokens`, each the only one allowed after those before; `matchers` stand after them, forks of others that had
    taken as many tokens as `starts` says. Without tokens there are none."""

    tokens: list[int]
    matchers: Sequence[Matcher] = ()
    starts: Sequence[int] = ()


def forced_run(
    matchers: Sequence[Matcher], fixed: PackedMask | None, stop_tokens: Collection[int], most: int
) -> ForcedRun:
    """At most `most` tokens from where the matchers are, under the `fixed` mask too. What ends the text is no part of
    it. Raises EmptyMaskError and GrammarError where nothing may follow."""
    mask, tokens, forks = allowed_next(matchers, fixed), list[int](), list[Matcher]()
    while len(tokens) < most and (token := only_token(mask)) is not None and token not in stop_tokens:
        forks = forks or [matcher.fork() for matcher in matchers]
        mask = _mask_after(forks, token, fixed)
        if mask is None:
            break
        tokens.append(token)
    return ForcedRun(tokens, forks, [matcher.taken for matcher in matchers]) if tokens else ForcedRun([])


def _mask_after(matchers: Sequence[Matcher], token: int, fixed: PackedMask | None) -> PackedMask | None:
    """The mask after one more token; None, with the matchers where they were, if the text ends or fails there."""
    moved = [matcher for matcher in matchers if matcher.try_accept([token])]
    try:
        if len(moved) == len(matchers) and not any(matcher.is_terminated for matcher in moved):
            return allowed_next(matchers, fixed)
    except (EmptyMaskError, GrammarError):
        pass  # plain decoding says so when it comes to it
    for matcher in moved:
        matcher.rollback(1)
    return None
