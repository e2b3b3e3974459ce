"""Drafts under masks: which of them may be sampled at all, and the mask of each row (V7)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pie_mlx.engine.model.runner.batch import PackedMask
from pie_mlx.engine.speculation.drafting.window import LAST_INPUT, DraftTree, chain
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.logit_mask import allowed_next, allows, only_token
from pie_mlx.errors import EmptyMaskError, GrammarError


class DraftRow(NamedTuple):
    """A place in the text: the matchers that stand there, and what may come next."""

    matchers: Sequence[Matcher]
    mask: PackedMask | None


@dataclass(slots=True)
class MaskedDrafts:
    """Drafts that may be sampled, and the mask of the row of each.

    `guessed` tells which were guesses; the others were the only tokens allowed.
    """

    tree: DraftTree
    masks: list[PackedMask | None]
    guessed: list[bool]


def after(row: DraftRow, token: int, fixed: PackedMask | None) -> DraftRow | None:
    """The place after one more token; None where that token, or any after it, cannot come. `row` stays as it is.

    `fixed` is the mask of every row. What a grammar cannot take does no harm here: plain decoding will say so if it
    comes to it.
    """
    if not allows(row.mask, token):
        return None
    if not row.matchers:
        return row
    matchers = [matcher.fork() for matcher in row.matchers]
    try:
        if not all(matcher.try_accept([token]) and not matcher.is_terminated for matcher in matchers):
            return None
        return DraftRow(matchers, allowed_next(matchers, fixed))
    except (EmptyMaskError, GrammarError):
        return None


def admitted(tree: DraftTree, first: DraftRow, fixed: PackedMask | None) -> MaskedDrafts:
    """The drafts of a program without those the masks refuse, and what follows these; `first` is the last input's."""
    rows = {LAST_INPUT: first}
    places: list[int] = []
    for place, (token, parent) in enumerate(zip(tree.tokens, tree.parents, strict=True)):
        row = after(rows[parent], token, fixed) if parent in rows else None
        if row is not None:
            rows[place] = row
            places.append(place)
    return MaskedDrafts(tree.chosen(places), [rows[place].mask for place in places], [True] * len(places))


def completed(
    guesses: Sequence[int], first: DraftRow, fixed: PackedMask | None, stop_tokens: Collection[int], most: int
) -> MaskedDrafts:
    """A chain of at most `most`, up to a stop token: the only token wherever there is but one, else the guess."""
    tokens: list[int] = []
    masks: list[PackedMask | None] = []
    guessed: list[bool] = []
    row, left = first, iter(guesses)
    while len(tokens) < most:
        guess, forced = next(left, None), only_token(row.mask)
        token = guess if forced is None else forced
        if token != guess:
            left = iter(())  # what was guessed after another token is worth nothing
        follows = None if token is None or token in stop_tokens else after(row, token, fixed)
        if token is None or follows is None:
            break
        row = follows
        tokens.append(token)
        masks.append(row.mask)
        guessed.append(forced is None)
    return MaskedDrafts(chain(tokens), masks, guessed)
