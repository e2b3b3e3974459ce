"""Which drafts a pass proves right."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.speculation.drafting import DraftTree, Window, chain, checked_tree
from pie_mlx.errors import SpeculationError

FORK = DraftTree([5, 6, 7, 8, 9], [-1, 0, -1, 2, 3])
"""5 6 and 7 8 9, both after the last input."""


def judged(tree: DraftTree, drawn: list[int], stops: frozenset[int] = frozenset(), *, wanted: bool = True) -> Window:
    window = Window(tree, stops)
    assert window.judge(drawn, wanted=wanted) == len(tree) - window.verification.kept  # type: ignore[union-attr]
    return window


@pytest.mark.parametrize(
    ("drawn", "tokens", "kept"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], 3),
        ([1, 2, 9, 4], [1, 2, 9], 2),
        ([9, 2, 3, 4], [9], 0),
    ],
)
def test_a_chain_is_accepted_up_to_the_first_difference(drawn: list[int], tokens: list[int], kept: int) -> None:  # V2
    verification = judged(chain([1, 2, 3]), drawn).verification
    assert verification is not None
    assert (verification.tokens, verification.accepted, verification.kept) == (tokens, kept, kept)


def test_a_stop_token_and_what_follows_leave_kv() -> None:  # V6
    verification = judged(chain([1, 2, 3]), [1, 2, 3, 4], frozenset({2})).verification
    assert verification is not None
    assert (verification.tokens, verification.accepted, verification.kept) == ([1, 2, 3, 4], 3, 1)


def test_nothing_is_accepted_for_nobody() -> None:  # E5
    verification = judged(chain([1, 2]), [1, 2, 3], wanted=False).verification
    assert verification is not None
    assert (verification.tokens, verification.kept) == ([1], 0)


def test_the_first_branch_stays_in_kv() -> None:
    verification = judged(FORK, [5, 6, 1, 0, 0, 0]).verification
    assert verification is not None
    assert (verification.tokens, verification.accepted, verification.kept) == ([5, 6, 1], 2, 2)


def test_another_branch_is_accepted_but_lies_elsewhere() -> None:
    verification = judged(FORK, [7, 0, 0, 8, 9, 1]).verification
    assert verification is not None
    assert (verification.tokens, verification.accepted, verification.kept) == ([7, 8, 9, 1], 3, 0)


def test_a_draft_sees_its_own_branch() -> None:
    assert [FORK.visible(place, 10) for place in range(5)] == [
        [0, 11],
        [0, 12],
        [0, 10, 2, 1],
        [0, 10, 2, 2],
        [0, 10, 2, 3],
    ]


def test_depth_limits_a_tree() -> None:
    shallow = FORK.up_to_depth(2)
    assert (list(shallow.tokens), list(shallow.parents)) == ([5, 6, 7, 8], [-1, 0, -1, 2])


@pytest.mark.parametrize("parents", [[-1], [-1, 1], [-1, -2], [0, -1]])
def test_parents_are_earlier_drafts(parents: list[int]) -> None:  # V5
    with pytest.raises(SpeculationError):
        checked_tree([1, 2], parents, 10)


def test_drafts_are_of_the_vocabulary() -> None:  # V5
    with pytest.raises(SpeculationError, match="vocabulary"):
        checked_tree([10], None, 10)


@given(st.data())
def test_what_is_verified_was_drawn_in_order(data: st.DataObject) -> None:  # V2
    count = data.draw(st.integers(0, 8))
    parents = [data.draw(st.integers(-1, place - 1)) for place in range(count)]
    tokens = data.draw(st.lists(st.integers(0, 2), min_size=count, max_size=count))
    drawn = data.draw(st.lists(st.integers(0, 2), min_size=count + 1, max_size=count + 1))
    path = DraftTree(tokens, parents).verified(drawn)
    after = -1
    for place in path:
        assert parents[place] == after
        assert tokens[place] == drawn[after + 1]
        after = place
    children = [place for place in range(count) if parents[place] == after]
    assert all(tokens[place] != drawn[after + 1] for place in children)
