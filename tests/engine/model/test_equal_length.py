"""How a step is cut into forward passes."""

from dataclasses import replace

from pie_mlx.engine.model.networks.equal_length import token_rows, waves
from pie_mlx.engine.model.step import Segment, StepInput


def step(*counts: int, gap_after: int | None = None) -> StepInput:
    """Contexts with `counts` new tokens each, on one page each; a gap in the positions of the first one."""
    segments: list[Segment] = []
    positions: list[int] = []
    for context, count in enumerate(counts):
        segments.append(Segment(context, len(positions), count, [context], count))
        positions += [row + (10 if context == 0 and gap_after and row >= gap_after else 0) for row in range(count)]
    total = sum(counts)
    return StepInput(range(total), positions, range(100, 100 + total), tuple(segments), range(total))


def test_single_tokens_come_first_among_token_rows() -> None:
    wave = token_rows(step(2, 1, 3, 1), recurrent=False)
    assert list(wave.tokens) == [2, 6, 0, 1, 3, 4, 5]
    assert [(segment.context, segment.start) for segment in wave.segments] == [(1, 0), (3, 1), (0, 2), (2, 4)]
    assert [wave.tokens[row] for row in wave.logit_rows] == list(range(7))


def test_contexts_that_recurrent_layers_compute_at_once_stand_side_by_side() -> None:
    parts = step(3, 1, 2, 3, 1)
    older = [replace(each, kv_length=9) if each.context in (0, 4) else each for each in parts.segments]
    wave = token_rows(replace(parts, segments=tuple(older)), recurrent=True)
    groups = [(group.contexts, group.length, group.fresh) for group in wave.groups]
    assert groups == [((4,), 1, False), ((1,), 1, True), ((2,), 2, True), ((0,), 3, False), ((3,), 3, True)]
    assert [row for group in wave.groups for row in group.rows] == list(range(10))
    assert list(wave.tokens) == [9, 3, 4, 5, 0, 1, 2, 6, 7, 8]


def test_rows_of_equal_length_are_computed_together() -> None:
    parts = waves(step(2, 1, 2, 1), alone=False)
    assert [(part.shape, [*part.groups[0].contexts]) for part in parts] == [((2, 2), [0, 2]), ((2, 1), [1, 3])]
    assert [token for part in parts for token in part.tokens] == [0, 1, 3, 4, 2, 5]
    assert [order for part in parts for order in part.logit_order] == [0, 1, 3, 4, 2, 5]


def test_a_model_that_needs_it_computes_one_context_at_a_time() -> None:
    assert [part.shape for part in waves(step(2, 2, 1), alone=True)] == [(1, 2), (1, 2), (1, 1)]


def test_a_gap_in_the_positions_cuts_a_row_in_two() -> None:  # F4
    parts = waves(step(5, 2, gap_after=2), alone=False)
    assert [(part.shape, list(part.offsets)) for part in parts] == [((2, 2), [0, 0]), ((1, 3), [12])]
    assert [part.segments[0].kv_length for part in parts] == [2, 5]


def test_only_the_first_piece_of_a_new_context_begins_afresh() -> None:
    parts = waves(step(5, gap_after=2), alone=False)
    assert [part.groups[0].fresh for part in parts] == [True, False]
