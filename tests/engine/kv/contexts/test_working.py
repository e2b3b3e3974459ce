"""Working pages: reserve, fill, truncate, commit."""

import struct

import pytest

from pie_mlx.engine.kv import CommitResult, PageStore, WorkingToken
from pie_mlx.errors import (
    ContextReleasedError,
    InvalidArgumentError,
    KvCapacityError,
    OutOfPagesError,
    PageBoundsError,
    PageCommitError,
)
from tests.engine.kv.world import World

COUNTERS = tuple[int, int, int]


@pytest.fixture
def store() -> PageStore:
    return PageStore(pages=12, page_size=16, identity=b"model")


def counters(store: PageStore, context: int) -> COUNTERS:
    found = store.contexts[context].counters()
    return found.committed, found.working, found.working_tokens


def working(store: PageStore, tokens: int, pages: int, first_position: int = 0) -> int:
    """A context with that many uncommitted tokens on that many pages."""
    context = store.create()
    store.working.reserve(context, pages)
    store.working.append(context, [WorkingToken(i, first_position + i) for i in range(tokens)])
    return context


def test_commits_move_pages_from_working_to_committed(store: PageStore):  # T1
    context = working(store, 32, 2)
    assert counters(store, context) == (0, 2, 32)
    store.working.commit(context, 1)
    assert counters(store, context) == (1, 1, 16)
    store.working.commit(context, 1)
    assert counters(store, context) == (2, 0, 0)
    assert store.sequence_length(context) == 32
    store.check_integrity()


def test_only_full_pages_are_committed(store: PageStore):  # T2, P7
    context = working(store, 20, 2)
    assert store.working.commit(context, 0) == CommitResult(0, 0, 0)
    with pytest.raises(PageBoundsError):
        store.working.commit(context, 3)
    with pytest.raises(PageCommitError):
        store.working.commit(context, 2)
    assert counters(store, context) == (0, 2, 20)
    store.working.commit(context, 1)
    assert counters(store, context) == (1, 1, 4)


@pytest.mark.parametrize("parts", [(32,), (16, 16), (5, 27)], ids=str)
def test_pages_of_a_pass_are_committed_as_if_each_were_a_pass(store: PageStore, parts: tuple[int, ...]):  # P10
    context, positions = store.create(), [*range(100, 116), *range(16, 32)]
    store.working.reserve(context, 2)
    for count in parts:
        store.working.append(context, [WorkingToken(1, positions.pop(0)) for _ in range(count)])
        store.working.commit_full(context)
    assert counters(store, context) == (1, 1, 16)
    with pytest.raises(PageCommitError):
        store.working.commit(context, 1)


@pytest.mark.parametrize(("first", "allowed"), [(31, False), (32, True), (100, True)])
def test_positions_must_exceed_the_highest_committed_one(store: PageStore, first: int, allowed: bool):  # T3
    context = working(store, 32, 2)
    store.working.commit(context, 2)
    store.working.reserve(context, 1)
    store.working.append(context, [WorkingToken(1, first + i) for i in range(16)])
    if allowed:
        assert store.working.commit(context, 1).pages == 1
        return
    with pytest.raises(PageCommitError):
        store.working.commit(context, 1)
    assert store.working.commit_full(context).pages == 0
    assert counters(store, context) == (2, 1, 16)


def test_automatic_commit_stops_at_the_page_that_positions_forbid(store: PageStore):  # P10
    context = working(store, 16, 4)
    store.working.commit(context, 1)
    for first in (16, 0, 48):
        store.working.append(context, [WorkingToken(1, first + i) for i in range(16)])
    assert store.working.commit_full(context).pages == 1
    assert counters(store, context) == (2, 2, 32)


def test_a_page_that_has_no_key_leaves_those_before_it_uncommitted_too(store: PageStore):  # E3
    copy = working(store, 16, 1)
    store.working.commit(copy, 1)
    context = working(store, 16, 3)
    store.working.append(context, [WorkingToken(1, 16 + i, zo_seed=1 << 63) for i in range(16)])
    with pytest.raises(struct.error):
        store.working.commit_full(context)
    assert counters(store, context) == (0, 3, 32)
    store.check_integrity()


def test_reservations_add_up_and_are_released_from_the_tail(store: PageStore):  # T4
    context = store.create()
    store.working.reserve(context, 2)
    store.working.reserve(context, 3)
    assert counters(store, context) == (0, 5, 0)
    store.working.release(context, 5)
    assert counters(store, context) == (0, 0, 0)
    with pytest.raises(PageBoundsError):
        store.working.release(context, 1)


def test_releasing_pages_keeps_the_tokens_on_the_others(store: PageStore):  # P5
    context = working(store, 40, 3)
    store.working.release(context, 1)
    assert counters(store, context) == (0, 2, 32)
    store.working.release(context, 0)
    assert counters(store, context) == (0, 2, 32)


def test_truncation_keeps_the_pages(store: PageStore):  # T5, P6
    context = working(store, 5, 1)
    store.working.truncate(context, 0)
    with pytest.raises(PageBoundsError):
        store.working.truncate(context, 6)
    assert counters(store, context) == (0, 1, 5)
    store.working.truncate(context, 3)
    assert counters(store, context) == (0, 1, 2)


@pytest.mark.parametrize("operation", ["reserve", "release", "truncate", "commit"])
def test_a_negative_number_is_refused(store: PageStore, operation: str):  # P4
    with pytest.raises(InvalidArgumentError):
        getattr(store.working, operation)(store.create(), -1)


def test_more_pages_than_the_pool_has_can_never_be_reserved(store: PageStore):  # P4, T26
    context = working(store, 32, 2)
    store.working.commit(context, 2)
    with pytest.raises(OutOfPagesError, match="can never fit") as caught:
        store.working.reserve(context, 11)
    assert (caught.value.needed, caught.value.capacity) == (13, 12)
    store.working.reserve(context, 10)


def test_a_reservation_that_does_not_fit_now_changes_nothing(store: PageStore):  # E3
    working(store, 0, 8)
    context = working(store, 5, 1)
    with pytest.raises(OutOfPagesError, match="not available now"):
        store.working.reserve(context, 4)
    assert counters(store, context) == (0, 1, 5)
    store.working.reserve(context, 3)
    store.check_integrity()


def test_tokens_beyond_the_reserved_pages_are_refused(store: PageStore):  # T6, F12
    context = working(store, 10, 1)
    with pytest.raises(KvCapacityError):
        store.working.rows(context, 7)
    with pytest.raises(KvCapacityError):
        store.working.append(context, [WorkingToken(1, i) for i in range(7)])
    assert counters(store, context) == (0, 1, 10)
    assert len(store.working.rows(context, 6).slots) == 6


def test_slots_follow_the_block_table(store: PageStore):  # F4
    context = working(store, 30, 3)
    first, second, third = store.contexts.resident(context).block_table
    assert store.working.rows(context, 4).slots == [second * 16 + 14, second * 16 + 15, third * 16, third * 16 + 1]
    store.working.commit(context, 1)
    assert store.contexts.resident(context).block_table == [first, second, third]


@pytest.mark.parametrize(
    ("tokens", "pages", "new", "lacking"), [(0, 0, 0, 0), (0, 0, 1, 1), (15, 1, 1, 0), (16, 1, 1, 1), (3, 4, 20, 0)]
)
def test_pages_lacking_for_new_tokens(store: PageStore, tokens: int, pages: int, new: int, lacking: int):  # P10
    assert store.working.lacking(working(store, tokens, pages), new) == lacking


def test_only_pages_with_a_token_of_this_context_count_as_computed(store: PageStore):  # M10
    context = working(store, 40, 3)
    fork = store.fork(context).context
    store.working.reserve(fork, 1)
    store.working.append(fork, [WorkingToken(1, 40 + i) for i in range(24)])
    assert store.working.commit_full(fork) == CommitResult(pages=4, computed=2, deduplicated=0)
    assert store.working.commit_full(context) == CommitResult(pages=2, computed=2, deduplicated=2)


def test_inherited_pages_cost_nothing_in_whatever_steps_they_are_committed(store: PageStore):  # M10
    fork = store.fork(working(store, 32, 2)).context
    assert [store.working.commit(fork, 1).computed for _ in range(2)] == [0, 0]


def test_a_page_of_inherited_tokens_that_were_forgotten_counts_as_computed(store: PageStore):  # M10, P6
    fork = store.fork(working(store, 20, 2)).context
    store.working.truncate(fork, 10)
    store.working.append(fork, [WorkingToken(1, 10 + i) for i in range(6)])
    assert store.working.commit_full(fork) == CommitResult(pages=1, computed=1, deduplicated=0)


def test_a_fork_shares_committed_pages_and_copies_the_working_ones():  # P13, T10
    world = World(pages=12, page_size=4)
    context = world.create()
    world.run(context, list(range(10)))
    world.store.working.reserve(context, 2)
    world.contexts[context].working_pages += 2
    used = world.store.usage().used
    fork = world.fork(context)
    assert world.store.usage().used == used + 1
    assert counters(world.store, fork) == (2, 1, 2)
    assert world.store.contexts.resident(fork).block_table[:2] == world.store.contexts.resident(context).block_table[:2]
    world.run(fork, [91, 92])
    world.run(context, [93])
    world.check()


def test_a_fork_that_does_not_fit_leaves_no_context_behind():  # E3
    store = PageStore(pages=3, page_size=16, identity=b"model")
    context = working(store, 40, 3)
    with pytest.raises(OutOfPagesError):
        store.fork(context)
    assert store.create() == context + 2
    store.check_integrity()


def test_release_gives_everything_back_and_may_be_repeated(store: PageStore):  # P15
    context = working(store, 40, 3)
    store.working.commit(context, 1)
    store.release(context)
    store.release(context)
    assert store.pool.available() == 12
    assert context not in store.contexts
    with pytest.raises(ContextReleasedError):
        store.contexts[context].counters()
    store.check_integrity()


def test_a_failed_pass_leaves_the_context_as_it_was():  # E6
    world = World(pages=12, page_size=4)
    context, other = world.create(), world.create()
    world.run(context, [1, 2])
    world.run(other, [1, 2, 3, 4, 5, 6, 7, 8])
    world.fail(context, [3, 4, 5, 6, 7, 8, 9], suspend=False)
    assert counters(world.store, context) == (0, 1, 2)
    world.check()


def test_a_failed_pass_of_a_context_without_room_for_its_old_pages_leaves_it_off_pool():  # E6
    world = World(pages=4, page_size=4)
    context, other = world.create(), world.create()
    world.run(context, [1, 2])
    world.run(other, [1, 2, 3, 4])
    before = world.store.contexts.usable(context).mark()
    assert world.store.working.match_prefix(context, [WorkingToken(3, 2), WorkingToken(4, 3)]) == 2
    world.store.working.reserve(other, 3)
    world.contexts[other].working_pages = 3
    assert world.store.undoer.rollback(context, before) == ()
    assert not world.store.contexts[context].resident
    world.check()


@pytest.mark.parametrize(("pages", "page_size"), [(0, 16), (4, 0)])
def test_a_store_without_pages_is_refused(pages: int, page_size: int):  # E3
    with pytest.raises(InvalidArgumentError):
        PageStore(pages=pages, page_size=page_size, identity=b"model")


def test_a_foreseen_page_is_the_one_the_context_gets(store: PageStore):  # P4
    context = working(store, 16, 1)
    foreseen = list(store.working.table_for(context, 17) or ())
    store.working.reserve(store.create(), 5)
    store.working.reserve(context, 1)
    assert store.contexts.resident(context).block_table == foreseen


def test_a_foreseen_page_is_given_to_whoever_needs_it_first(store: PageStore):  # P4, K8
    context, other = working(store, 16, 1), store.create()
    assert store.working.table_for(context, 17) is not None
    store.working.reserve(other, 11)
    assert store.pool.available() == 0
    assert store.working.table_for(context, 17) is None
    store.check_integrity()


def test_more_than_one_missing_page_is_not_foreseen(store: PageStore):
    assert store.working.table_for(working(store, 16, 1), 33) is None


def test_a_context_gets_neighbouring_pages_while_they_are_free(store: PageStore):
    first, second = working(store, 5, 1), working(store, 5, 1)
    store.release(second)
    store.working.reserve(first, 2)
    assert store.contexts.resident(first).block_table == [0, 1, 2]


def test_a_foreseen_page_is_a_neighbour_too(store: PageStore):
    for pages in (2, 1):
        context = working(store, 1, pages)
    store.release(context - 1)
    table = store.working.table_for(context, 17)
    assert table == [2, 3]


def test_a_failed_pass_leaves_reserved_pages_that_it_filled_and_committed():  # E6, P4
    world = World(pages=6, page_size=2)
    context = world.create()
    world.store.working.reserve(context, 2)
    world.contexts[context].working_pages = 2
    before = world.store.contexts[context].counters()
    world.fail(context, [5, 6, 7, 8], suspend=False, publish=True)
    assert world.store.contexts[context].counters() == before
    world.store.check_integrity()
