"""Drafts under masks."""

from collections.abc import Sequence

import numpy as np
import pytest

from pie_mlx.calls import GrammarSource
from pie_mlx.engine.model.runner.batch import PackedMask
from pie_mlx.engine.speculation.drafting import DraftRow, DraftTree, admitted, chain, completed
from pie_mlx.engine.text.grammar import Matcher
from pie_mlx.engine.text.logit_mask import only_token, pack_runs
from tests.engine.running import Running

VOCABULARY = 70


def only(*tokens: int) -> PackedMask:
    bits = np.zeros(96, np.uint8)
    bits[list(tokens)] = 1
    return np.packbits(bits, bitorder="little").view(np.uint32)


def matcher(engine: Running, pattern: str) -> Matcher:
    made = engine.core.services.language.grammars.compile(GrammarSource("regex", pattern))
    assert made is not None
    return made


def row(*matchers: Matcher) -> DraftRow:
    return DraftRow(matchers, matchers[0].packed_mask())


def spelled(engine: Running, text: str) -> list[int]:
    """One token for each character."""
    return [token for letter in text for token in engine.encode(letter)[-1:]]


@pytest.mark.parametrize(
    ("mask", "token"), [(None, None), (only(40), 40), (only(31), 31), (only(40, 41), None), (only(1, 40), None)]
)
def test_one_token_alone_is_forced(mask: PackedMask | None, token: int | None) -> None:
    assert only_token(mask) == token


def test_a_fixed_mask_cuts_drafts_it_forbids() -> None:  # V7
    mask = pack_runs([5, 10], VOCABULARY)
    assert list(admitted(chain([5, 14, 15, 6]), DraftRow((), mask), mask).tree.tokens) == [5, 14]


def test_what_follows_a_refused_draft_goes_with_it() -> None:  # V7
    mask = pack_runs([5, 10], VOCABULARY)
    tree = DraftTree([5, 20, 6, 7], [-1, -1, 1, 0])
    left = admitted(tree, DraftRow((), mask), mask).tree
    assert (list(left.tokens), list(left.parents)) == ([5, 7], [-1, 0])


def test_guesses_end_before_a_stop_token() -> None:  # V6
    assert list(completed([5, 6, 7, 8], DraftRow((), None), None, {7}, 16).tree.tokens) == [5, 6]


def test_guesses_are_no_more_than_wanted() -> None:
    assert list(completed([5, 6, 7, 8], DraftRow((), None), None, (), 3).tree.tokens) == [5, 6, 7]


def tokens_of(drafts: Sequence[int]) -> list[int]:
    return list(drafts)


def test_each_row_has_the_mask_of_its_place(engine: Running) -> None:  # V7
    grammar = matcher(engine, "x[ab][cd]!")
    text = spelled(engine, "xac")
    found = admitted(chain(text), row(grammar), None)
    assert tokens_of(found.tree.tokens) == text
    for place, mask in enumerate(found.masks):
        grammar.accept([text[place]])
        expected = grammar.packed_mask()
        assert mask is not None
        assert expected is not None
        assert mask.tolist() == expected.tolist()


def test_looking_ahead_moves_no_matcher(engine: Running) -> None:  # V7
    grammar = matcher(engine, "x[ab]+")
    admitted(chain(spelled(engine, "xab!")), row(grammar), None)
    assert grammar.taken == 0


def test_a_refused_draft_ends_the_chain(engine: Running) -> None:  # V7
    text = spelled(engine, "xa!b")
    assert tokens_of(admitted(chain(text), row(matcher(engine, "x[ab]+")), None).tree.tokens) == text[:2]


def test_a_draft_that_ends_the_grammar_is_left_to_be_drawn(engine: Running) -> None:  # G13
    text = spelled(engine, "xa")
    assert tokens_of(admitted(chain(text), row(matcher(engine, "xa")), None).tree.tokens) == text[:1]


def test_forced_tokens_are_drafted_without_a_guess(engine: Running) -> None:
    found = completed([], row(matcher(engine, "x!+")), None, (), 16)
    assert found.guessed == [False] * len(found.tree)
