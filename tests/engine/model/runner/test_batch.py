"""The entries of a batch as one ragged step."""

from pie_mlx.engine.model.runner.batch import BatchEntry, step_input

PAGES = [7, 3, 9, 5]


def entry(count: int, *rows: list[int]) -> BatchEntry:
    slots = [PAGES[slot // 16] * 16 + slot % 16 for slot in range(60 - count, 60)]
    return BatchEntry(1, [5] * count, list(range(60 - count, 60)), slots, PAGES, 60, masks=rows or None)


def test_pages_that_masks_hide_are_not_read() -> None:  # F8
    step, _, _ = step_input([entry(1, [0, 4, 44, 12])], 16)
    (segment,) = step.segments
    assert (segment.block_table, segment.kv_length, segment.masks) == ([7, 5], 28, [[0, 4, 12, 12]])
    assert step.slots == [5 * 16 + 11]


def test_pages_are_all_read_where_layers_count_slots() -> None:  # F8
    (segment,) = step_input([entry(1, [0, 4, 44, 12])])[0].segments
    assert (segment.block_table, segment.kv_length) == (PAGES, 60)


def test_pages_of_passes_without_masks_are_all_read() -> None:
    (segment,) = step_input([entry(2)], 16)[0].segments
    assert (segment.block_table, segment.kv_length, segment.masks) == (PAGES, 60, None)
