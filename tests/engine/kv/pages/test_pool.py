"""Pages that the pool does without for a while."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.kv import PageStore
from pie_mlx.engine.kv.pages.pool import KeptSegments
from pie_mlx.engine.kv.pages.record import Segment, WorkingToken
from pie_mlx.errors import OutOfPagesError


def store_with(cached: int, held: int, pages: int = 10) -> tuple[PageStore, int]:
    """A pool of one-token pages: some cached, some held by the context that is answered."""
    store = PageStore(pages=pages, page_size=1, identity=b"")
    contexts = [store.create(), store.create()]
    for context, count in zip(contexts, (cached, held), strict=True):
        store.working.reserve(context, count)
        store.working.append(context, [WorkingToken(100 * context + index, index) for index in range(count)])
        store.working.commit_full(context)
    store.release(contexts[0])
    return store, contexts[1]


def test_free_pages_go_first_then_cached_ones_and_held_ones_never() -> None:
    store, _ = store_with(cached=3, held=4)
    store.withheld.withhold(3)
    assert (store.usage().cached, store.pool.available()) == (3, 3)
    store.withheld.withhold(100)
    assert (store.withheld.count, store.usage().cached, store.pool.available()) == (6, 0, 0)
    assert store.usage().used == 4
    store.check_integrity()


def test_a_withheld_page_can_be_taken_by_nobody() -> None:
    store, context = store_with(cached=3, held=4)
    store.withheld.withhold(5)
    store.working.reserve(context, 1)
    with pytest.raises(OutOfPagesError):
        store.working.reserve(context, 1)


def test_a_request_for_more_than_is_left_may_still_wait() -> None:
    store, context = store_with(cached=0, held=4)
    store.withheld.withhold(6)
    store.working.require_capacity(context, 6)


def test_pages_come_back_one_by_one_or_all() -> None:
    store, context = store_with(cached=0, held=4)
    taken = set(store.withheld.withhold(6))
    store.withheld.give_back(2)
    assert (store.withheld.count, store.pool.available()) == (4, 2)
    store.withheld.give_back(100)
    assert (store.withheld.count, store.pool.available()) == (0, 6)
    store.working.reserve(context, 6)
    assert set(store.contexts.resident(context).block_table[4:]) == taken
    store.check_integrity()


def test_an_emptied_cache_is_free() -> None:
    store, _ = store_with(cached=3, held=4)
    assert len(store.withheld.empty_cache()) == 6
    assert (store.usage().cached, store.usage().free) == (0, 6)
    store.check_integrity()


def test_what_a_suspended_context_wants_is_told_before_its_page_goes() -> None:
    store, context = store_with(cached=0, held=4)
    store.suspender.suspend(context)
    store.withheld.withhold(8)
    assert len(store.pool.pop_lost()) == 2
    store.check_integrity()


def test_free_and_reclaimed_pages_are_neighbours_of_what_the_context_has() -> None:
    store, context = store_with(cached=5, held=2)  # pages 0 to 4, and 5 to 6: 7 to 9 are free
    store.working.reserve(context, 7)
    assert store.contexts.resident(context).block_table == [5, 6, 7, 8, 9, 1, 2, 3, 4]
    store.release(context)
    another = store.create()
    store.working.reserve(another, 10)
    assert store.contexts.resident(another).block_table == list(range(10))


def test_of_what_is_kept_the_lower_priority_goes_first() -> None:  # K8, B10
    store = PageStore(pages=6, page_size=1, identity=b"")
    pages: dict[float, list[int]] = {}
    for priority in (2.0, 1.0, 3.0):
        context = store.create()
        store.working.reserve(context, 2)
        store.working.append(context, [WorkingToken(int(priority), index) for index in range(2)])
        store.working.commit_full(context)
        pages[priority] = list(store.contexts.resident(context).block_table)
        store.keep(context, store.pool.clock() + 100.0, priority)
        store.release(context)
    taken = [set(store.pool.allocate(2)) for _ in range(3)]
    assert taken == [set(pages[1.0]), set(pages[2.0]), set(pages[3.0])]


@given(st.lists(st.tuples(st.sampled_from(["put", "again", "first", "over"]), st.integers(0, 9)), max_size=300))
def test_whatever_comes_and_goes_kept_segments_go_by_priority_and_use_and_end_in_their_time(
    history: list[tuple[str, int]],
) -> None:
    kept, here, now = KeptSegments(), list[Segment](), 0
    for verb, number in history:
        match verb:
            case "put":
                segment = Segment(None, [])
                segment.kept_priority, segment.kept_until = float(number % 3), float(now + number)
                kept.put(segment)
                here.append(segment)
            case "again" if here:  # is used once more
                segment = here.pop(number % len(here))
                kept.remove(segment)
                kept.put(segment)
                here.append(segment)
            case "first" if here:
                assert kept.first() is min(here, key=lambda segment: segment.kept_priority)
                here.remove(kept.first())
                kept.remove(kept.first())
            case _:
                now += 1
                assert kept.pop_over(now) == [segment for segment in here if segment.kept_until <= now]
                here = [segment for segment in here if segment.kept_until > now]
    assert list(kept.segments) == here
