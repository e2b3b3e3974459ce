"""Texts of about one length are computed together."""

from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.embedding.batches import FIRST_TOKENS, PADDED_SHARE, ByLength, PieceSize, neighbours

LENGTHS = st.lists(st.integers(1, 600), min_size=1, max_size=60).map(sorted)


@given(LENGTHS, st.integers(0, 1000), st.integers(1, 2000))
def test_a_batch_has_its_text_and_little_padding(lengths: list[int], place: int, most_tokens: int) -> None:
    first = place % len(lengths)
    begin, end = neighbours(lengths, first, most_tokens)
    assert begin <= first < end
    padded = (end - begin) * lengths[end - 1]
    assert padded - sum(lengths[begin:end]) <= PADDED_SHARE * padded
    assert padded <= most_tokens or end - begin == 1


def test_texts_of_one_length_fill_a_batch() -> None:
    assert neighbours([5] * 100, 40, 50) == (40, 50)


def test_nearer_lengths_come_first() -> None:
    assert neighbours([10, 18, 20, 21, 22, 90], 2, 66) == (2, 5)


@given(st.lists(st.tuples(st.integers(1, 9), st.booleans()), max_size=60))
def test_what_waits_is_in_order_of_length_whatever_is_taken_out(moves: list[tuple[int, bool]]) -> None:
    waiting, known = ByLength(), list[tuple[int, int]]()
    for number, (length, takes) in enumerate(moves):
        waiting.add(length, number)
        known.append((length, number))
        if takes:
            one = known.pop(len(known) // 2)
            place = waiting.place(*one)
            assert waiting.remove(place, place + 1) == [one[1]]
    assert list(zip(waiting.lengths, waiting.numbers, strict=True)) == sorted(known)


def test_pieces_take_about_the_seconds_that_others_may_wait() -> None:
    size = PieceSize(seconds=0.25, most=4096)
    size.note(512, 0.001)
    assert size.tokens == 2 * FIRST_TOKENS  # grows slowly
    size.note(1000, 0.5)
    assert size.tokens == 500
    size.note(1000, 100.0)
    assert size.tokens == FIRST_TOKENS // 4
    for _ in range(20):
        size.note(1000, 0.0)
    assert size.tokens == 4096
