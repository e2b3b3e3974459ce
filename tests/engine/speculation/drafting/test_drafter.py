"""When repetitions are drafted."""

import itertools

import pytest

from pie_mlx.engine.speculation.drafting import NgramDrafter
from pie_mlx.engine.speculation.drafting.drafter import SEEN_AGAIN

TEXTS = {4: [1, 2, 3, 4, 5, 0, 1, 2, 3, 4], 3: [1, 2, 3, 4, 5, 0, 2, 3, 4], 2: [1, 2, 3, 4, 5, 0, 3, 4]}
"""As many of the last tokens have occurred before."""


class Reader:
    """A drafter that is shown text after text, each longer than the one before."""

    def __init__(self) -> None:
        self.drafter = NgramDrafter()
        self._before = itertools.count(20, 20)

    def drafts(self, size: int, *, cost: float = 1.0, may_try: bool = True) -> list[int]:
        text = [*range(100, 100 + next(self._before)), *TEXTS[size]]
        held = text[:-1]
        return self.drafter.draft(len(held), text[-1:], 4, lambda count: held[-count:], cost=cost, may_try=may_try)

    def told(self, size: int, accepted: int) -> None:
        assert self.drafts(size)
        self.drafter.learn([], 4, accepted)


def experienced(*sizes: int) -> Reader:
    """Matches of these sizes were right, the longest first."""
    reader = Reader()
    for size in sizes:
        reader.told(size, 4)
    return reader


@pytest.mark.parametrize(("sizes", "tried"), [((), [4]), ((4,), [4, 3]), ((4, 3), [4, 3, 2])])
def test_shorter_matches_are_tried_while_longer_ones_pay(sizes: tuple[int, ...], tried: list[int]) -> None:  # V8
    reader = experienced(*sizes)
    assert [size for size in TEXTS if reader.drafts(size)] == tried


def test_without_leave_to_try_only_what_pays_is_drafted() -> None:
    assert experienced(4).drafts(4, may_try=False)[:2] == [5, 0]
    assert experienced(4).drafts(3, may_try=False) == []


def test_what_costs_more_than_it_saves_is_not_drafted() -> None:
    assert experienced(4).drafts(4, cost=2.0, may_try=False) == []


def test_matches_of_each_size_pay_for_themselves() -> None:
    reader = experienced(4, 3)
    reader.told(3, 0)
    assert reader.drafts(3, may_try=False) == []
    assert reader.drafts(4, may_try=False)


def test_a_context_that_went_another_way_is_read_again() -> None:
    drafter = NgramDrafter()
    for text, found in (([1, 2, 3, 4], []), ([7, 8, 9, 6, 7, 8, 9, 6], [7, 8])):
        held = text[:-1]
        drafts = drafter.draft(len(held), text[-1:], 2, lambda count, held=held: held[-count:], cost=1.0, may_try=True)
        assert drafts == found


@pytest.mark.parametrize("missed", [1, 5, 40])
def test_what_was_written_in_a_rest_is_read_afterwards(missed: int) -> None:
    drafter, text = NgramDrafter(), list(range(50, 80))
    drafter.draft(len(text) - 1, text[-1:], 2, lambda count: text[:-1][-count:], cost=1.0, may_try=True)
    text += [*range(100, 100 + missed), 50, 51, 52, 53]
    asked: list[int] = []

    def read(count: int) -> list[int]:
        asked.append(count)
        return text[:-1][-count:]

    assert drafter.draft(len(text) - 1, text[-1:], 2, read, cost=1.0, may_try=True) == [54, 55]
    assert asked == [missed + 3 + SEEN_AGAIN]


def test_another_way_gone_in_a_rest_is_noticed() -> None:
    drafter = NgramDrafter()
    for text, found in (([*range(40)], []), ([*range(20), *range(90, 120), 90, 91, 92, 93], [94, 95])):
        held = text[:-1]
        drafts = drafter.draft(len(held), text[-1:], 2, lambda count, held=held: held[-count:], cost=1.0, may_try=True)
        assert drafts == found
