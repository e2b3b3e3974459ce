"""How a step is cut into batches of equal length, and ordered for recurrent layers."""

from dataclasses import replace

from pie_mlx.engine.model.networks.equal_length import equal_length_batches
from pie_mlx.engine.model.networks.mixers import row_groups, side_by_side
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


def shapes(parts: list[StepInput]) -> list[tuple[int, int]]:
    return [(len(part.segments), part.row_tokens) for part in parts]


def test_rows_of_equal_length_are_computed_together() -> None:
    batches = equal_length_batches(step(2, 1, 2, 1), alone=False)
    parts = [part for part, _ in batches]
    assert shapes(parts) == [(2, 2), (2, 1)]
    assert [[segment.context for segment in part.segments] for part in parts] == [[0, 2], [1, 3]]
    assert [token for part in parts for token in part.tokens] == [0, 1, 3, 4, 2, 5]
    assert [place for _, places in batches for place in places] == [0, 1, 3, 4, 2, 5]


def test_a_model_that_needs_it_computes_one_context_at_a_time() -> None:
    assert shapes([part for part, _ in equal_length_batches(step(2, 2, 1), alone=True)]) == [(1, 2), (1, 2), (1, 1)]


def test_a_gap_in_the_positions_cuts_a_row_in_two() -> None:  # F4
    parts = [part for part, _ in equal_length_batches(step(5, 2, gap_after=2), alone=False)]
    assert shapes(parts) == [(2, 2), (1, 3)]
    assert [list(part.positions[:: part.row_tokens]) for part in parts] == [[0, 0], [12]]
    assert [part.segments[0].kv_length for part in parts] == [2, 5]


def test_contexts_that_recurrent_layers_compute_at_once_stand_side_by_side() -> None:
    parts = step(3, 1, 2, 3, 1)
    older = [replace(each, kv_length=9) if each.context in (0, 4) else each for each in parts.segments]
    ordered = side_by_side(replace(parts, segments=tuple(older)))
    groups = row_groups(ordered.segments)
    found = [(group.contexts, group.length, group.fresh) for group in groups]
    assert found == [((4,), 1, False), ((1,), 1, True), ((2,), 2, True), ((0,), 3, False), ((3,), 3, True)]
    assert [row for group in groups for row in group.rows] == list(range(10))
    assert list(ordered.tokens) == [9, 3, 4, 5, 0, 1, 2, 6, 7, 8]
    assert [ordered.tokens[row] for row in ordered.logit_rows] == list(range(10))
