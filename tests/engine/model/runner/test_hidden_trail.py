"""Hidden states that wait for a draft head."""

import mlx.core as mx

from pie_mlx.engine.model.runner.hidden_trail import MOST_ROWS, HiddenTrail


def rows(first: int, count: int) -> tuple[int, mx.array]:
    """Hidden states of consecutive places, each of which says where it is from."""
    return first, mx.arange(first, first + count)[:, None]


def left(trail: HiddenTrail) -> list[int]:
    """The places whose hidden states were kept."""
    found: list[int] = []
    for first, array in trail.take():
        places = array[:, 0].tolist()
        assert isinstance(places, list)
        assert places[0] == first
        found += places  # type: ignore[arg-type]
    return found


def test_of_a_long_prompt_the_last_hidden_states_are_kept() -> None:
    trail = HiddenTrail()
    trail.add(*rows(40, MOST_ROWS + 10))
    assert len(trail) == MOST_ROWS
    assert left(trail) == list(range(50, 50 + MOST_ROWS))


def test_pieces_that_lie_far_back_are_let_go() -> None:
    trail = HiddenTrail()
    for first in range(0, 3 * MOST_ROWS, 4):
        trail.add(*rows(first, 4))
    assert left(trail) == list(range(2 * MOST_ROWS, 3 * MOST_ROWS))


def test_what_is_taken_is_gone() -> None:
    trail = HiddenTrail()
    trail.add(*rows(0, 3))
    assert left(trail) == [0, 1, 2]
    assert (len(trail), trail.take()) == (0, [])
