"""What a draft head has read of each context."""

import mlx.core as mx
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.speculation.draft_head.books import MOST_LEFT, HeadBooks, Pairs
from pie_mlx.engine.speculation.draft_model import DraftSequences

PAGE = 4


def rows(first: int, count: int) -> tuple[int, mx.array]:
    """Hidden states of consecutive places, each of which says where it is from."""
    return first, mx.arange(first, first + count)[:, None]


def places_of(pairs: Pairs) -> list[int]:
    """The places that the hidden states of the pairs are from."""
    parts = [array[start:stop] for array, start, stop in pairs.hidden]
    return [] if not parts else mx.concatenate(parts)[:, 0].tolist()  # type: ignore[return-value]


class Text:
    """A context with its books: what it holds, and the token after that."""

    def __init__(self, tokens: list[int]) -> None:
        self.tokens = tokens

    def read(self, count: int) -> list[int]:
        return self.tokens[len(self.tokens) - count :] if count else []


def follow(books: HeadBooks, context: int, text: Text, token: int, *pieces: tuple[int, mx.array]) -> Pairs:
    pairs = books.follow(context, len(text.tokens), token, text.read, pieces)
    assert books.reserve(context, len(pairs.places), ())
    books.append(context, pairs)
    return pairs


def new_books(pages: int = 32) -> HeadBooks:
    return HeadBooks(DraftSequences(pages, PAGE))


def test_each_token_is_read_with_what_was_remembered_before_it() -> None:
    books, text = new_books(), Text([5, 6, 7])
    pairs = follow(books, 1, text, 8, rows(0, 3))
    assert (pairs.places, pairs.tokens) == ([0, 1, 2], [6, 7, 8])
    text.tokens += [8]
    assert follow(books, 1, text, 9, rows(3, 1)).tokens == [9]


def test_of_rejected_guesses_nothing_is_read() -> None:
    books, text = new_books(), Text([5, 6])
    follow(books, 1, text, 7, rows(0, 2))
    text.tokens += [7, 8]  # two of five rows were right
    pairs = follow(books, 1, text, 9, rows(2, 5))
    assert (pairs.places, pairs.tokens) == ([2, 3], [8, 9])


def test_a_context_that_went_another_way_is_read_from_there() -> None:
    books, text = new_books(), Text([5, 6, 7, 8])
    follow(books, 1, text, 9, rows(0, 4))
    text.tokens = [5, 6, 1, 2]
    assert follow(books, 1, text, 3, rows(2, 2)).places == [2, 3]
    assert books.sequences.length(1) == 2  # what was read before was followed by other tokens


def test_what_nobody_kept_is_left_out() -> None:
    books, text = new_books(), Text(list(range(20)))
    pairs = follow(books, 1, text, 20, rows(3, 2), rows(17, 3))
    assert (pairs.places, pairs.tokens) == ([3, 4, 17, 18, 19], [4, 5, 18, 19, 20])


def test_places_that_were_computed_again_count_as_they_were_last() -> None:
    books, text = new_books(), Text([5, 6, 7, 8])
    pairs = follow(books, 1, text, 9, rows(0, 4), rows(2, 2))
    assert places_of(pairs) == pairs.places == [0, 1, 2, 3]


def test_a_fork_begins_with_full_pages() -> None:
    books, text = new_books(), Text(list(range(10)))
    follow(books, 1, text, 10, rows(0, 10))
    books.fork(1, 2)
    pairs = follow(books, 2, text, 10, rows(0, 10))
    assert pairs.places == [8, 9]
    books.sequences.check_integrity()


def test_a_context_that_begins_like_one_that_is_gone_goes_on_from_its_full_pages() -> None:
    books, text = new_books(), Text(list(range(20)))
    follow(books, 1, text, 20, rows(2, 18))
    books.leave(1)
    another = Text([*range(15), 50, 51, 52])
    pairs = follow(books, 2, another, 53, rows(16, 2))
    assert (pairs.places, books.sequences.length(2)) == ([16, 17], 14)  # 12 of 18 pairs fill pages and are the same
    assert follow(books, 3, Text([9] * 18), 9, rows(16, 2)).places == [16, 17]
    assert books.sequences.length(3) == 2
    books.sequences.check_integrity()


def test_few_contexts_that_are_gone_are_remembered() -> None:
    books = new_books(64)
    for context in range(1, 40):
        follow(books, context, Text([context] * 9), context, rows(0, 9))
        books.leave(context)
    assert books.sequences.used_pages == 2 * MOST_LEFT
    books.sequences.check_integrity()


@given(
    acts=st.lists(
        st.tuples(st.sampled_from(["write", "cut", "fork", "skip", "leave"]), st.integers(1, 6)), max_size=24
    ),
)
def test_books_balance_and_pairs_are_those_of_the_text(acts: list[tuple[str, int]]) -> None:
    books, text, after, number = new_books(6), Text([1, 2, 3]), 4, 4
    pieces = [rows(0, 3)]
    for act, count in acts:
        if act == "cut":
            text.tokens = text.tokens[: max(1, len(text.tokens) - count)]
        elif act == "fork":
            books.fork(1, 2)
            books.drop(2)
        elif act == "leave":
            books.leave(1)
        else:
            first = len(text.tokens)
            text.tokens += range(number, number + count)
            number += count
            if act == "write":
                pieces.append(rows(first, count))
        pairs = books.follow(1, len(text.tokens), after, text.read, pieces)
        whole = [*text.tokens, after]
        assert pairs.tokens == [whole[place + 1] for place in pairs.places]
        assert places_of(pairs) == pairs.places == sorted(set(pairs.places))
        if books.reserve(1, len(pairs.places), ()):
            books.append(1, pairs)
        pieces = []
        books.sequences.check_integrity()
