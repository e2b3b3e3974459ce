"""Stop strings in text that comes in pieces."""

from hypothesis import given
from hypothesis import strategies as st

LETTERS = st.text("ab", max_size=12)


@given(pieces=st.lists(LETTERS, max_size=6), stops=st.lists(st.text("ab", min_size=1, max_size=4), max_size=3))
def test_cutting_into_pieces_makes_no_difference(openai_module, pieces, stops):
    filter = openai_module("decoding").StopTexts(stops)
    given_out = "".join(filter.feed(piece) for piece in pieces) + filter.finish()
    text = "".join(pieces)
    ends = [text.index(stop) for stop in stops if stop in text]
    if len(pieces) == 1 or not ends:
        assert given_out == text[: min(ends, default=len(text))]
    assert text.startswith(given_out)
    assert not any(stop in given_out for stop in stops)
    assert (filter.found is not None) == bool(ends)


def test_text_that_cannot_begin_a_stop_is_given_out_at_once(openai_module):
    filter = openai_module("decoding").StopTexts(["END"])
    assert [filter.feed(piece) for piece in ("some ", "E", "N", "d", "EN", "D more")] == [
        "some ",
        "",
        "",
        "ENd",
        "",
        "",
    ]
    assert filter.found == "END"
