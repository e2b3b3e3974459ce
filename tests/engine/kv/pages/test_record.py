"""Tokens of pages in their packed form."""

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.kv import WorkingToken
from pie_mlx.engine.kv.pages.record import pack, unpack

NUMBERS = st.integers(0, 2**63 - 1)
TOKENS = st.builds(WorkingToken, NUMBERS, NUMBERS, st.none() | st.binary(max_size=8), NUMBERS, NUMBERS, NUMBERS)
BIT = st.integers(0, 1)
FEW = st.builds(WorkingToken, BIT, BIT, st.sampled_from([None, b"", b"a"]), BIT, BIT, BIT)


@given(st.lists(TOKENS, max_size=32))
def test_a_page_gives_back_every_property_of_its_tokens(tokens: list[WorkingToken]):  # K1
    assert unpack(pack(tokens)) == tokens


@given(st.lists(FEW, max_size=2), st.lists(FEW, max_size=2))
def test_pages_are_equal_exactly_when_their_tokens_are(ours: list[WorkingToken], theirs: list[WorkingToken]):  # K3
    assert (pack(ours) == pack(theirs)) == (ours == theirs)


def test_bare_tuples_make_the_same_page():  # K3
    token = WorkingToken(1, 2, b"mask", 3, 4, 5)
    assert pack([tuple(token)]) == pack([token])
