"""Suspending and restoring contexts."""

import pytest

from pie_mlx.engine.kv import Fill, IntegrityError, PageRead, WorkingToken, share_out
from pie_mlx.errors import OutOfPagesError
from tests.engine.kv.world import World


@pytest.fixture
def world() -> World:
    return World(pages=12, page_size=4)


def test_suspension_makes_all_pages_available_and_keeps_the_counts(world: World):  # R1
    context = world.filled(list(range(10)))
    world.store.working.reserve(context, 2)
    world.contexts[context].working_pages += 2
    before = world.store.contexts[context].counters()
    assert world.store.suspender.suspend(context).freed == 5
    assert world.store.pool.available() == 12
    assert world.store.contexts[context].counters() == before
    assert not world.store.contexts[context].resident
    world.check()


def test_suspending_twice_does_nothing(world: World):  # R2
    context = world.filled([1] * 6)
    world.suspend(context)
    again = world.store.suspender.suspend(context)
    assert (again.freed, again.contents) == (0, ())


def test_those_that_hold_no_pages_are_known_until_their_restore_begins(world: World):  # Q1
    resident, suspended, released = (world.filled([token] * 6) for token in range(3))
    world.suspend(suspended)
    world.release(released)
    assert world.store.contexts.off_pool([resident, suspended, released]) == [suspended]
    world.store.suspender.restore(suspended)
    assert world.store.contexts.off_pool([resident, suspended]) == []


def test_a_shared_prefix_stays_with_its_other_holder(world: World):  # T16
    context = world.filled(list(range(9)))
    other = world.fork(context)
    assert world.held_alone(context) == 1
    world.suspend(context)
    assert world.store.usage().used == 3
    assert share_out(world.store.contexts).effective[other] == 3.0
    assert context not in share_out(world.store.contexts).effective
    world.check()


def test_content_still_in_the_pool_comes_back_without_work(world: World):  # R4
    context = world.filled(list(range(10)))
    pages = list(world.store.contexts.resident(context).block_table)
    world.suspend(context)
    restore = world.store.suspender.restore(context)
    assert (restore.attached, restore.copies, restore.reads, restore.fills) == (2, (), (), ())
    world.store.suspender.finish_restore(context)
    assert world.store.contexts.resident(context).block_table == pages
    world.check()


def test_reclaimed_content_is_replayed_from_fills(world: World):  # R4, T15
    world.spill_lost = False
    context = world.filled(list(range(10)))
    world.suspend(context)
    world.release(world.press())
    world.begin_restore(context)
    restore = world.restoring[context]
    assert restore.fills == (Fill(0, tuple(range(10)), tuple(range(10)), (None,) * 10, 0, 0, 0),)
    world.finish_restore(context)
    world.check()


def test_stashed_content_is_read_back(world: World):  # R3, R4, T15
    world.spill_lost = False
    context = world.filled(list(range(10)))
    world.suspend(context, stash=True)
    world.release(world.press())
    world.begin_restore(context)
    reads = world.restoring[context].reads
    assert [read.rows for read in reads] == [4, 4, 2]
    assert world.restoring[context].fills == ()
    world.finish_restore(context)
    world.check()
    assert not world.spill


def test_content_may_be_spilled_when_its_page_is_reclaimed(world: World):  # R3
    context = world.filled(list(range(10)))
    world.suspend(context)
    world.release(world.press())
    assert len(world.spill) == 3
    world.begin_restore(context)
    assert [type(read) for read in world.restoring[context].reads] == [PageRead] * 3
    world.finish_restore(context)
    world.check()


def test_a_spill_that_ends_half_way_is_completed_by_replay(world: World):  # R3, R4
    world.spill_lost = False
    context = world.filled(list(range(10)))
    first, *_ = world.store.suspender.suspend(context).contents
    world.store.images.mark_spilled(first, world.write(first.page))
    world.release(world.press())
    world.begin_restore(context)
    assert [read.rows for read in world.restoring[context].reads] == [4]
    assert [fill.start for fill in world.restoring[context].fills] == [4]
    world.finish_restore(context)
    world.check()


def test_fills_merge_neighbours_of_equal_adapter_and_seed(world: World):  # R5
    world.spill_lost = False
    context = world.filled([1, 2, 3])
    world.run(context, [4, 5])
    world.run(context, [6, 7, 8], change=WorkingToken(0, 0, b"\1\0\0\0", 7, 2, -5))
    world.suspend(context)
    world.release(world.press())
    world.begin_restore(context)
    plain, adapted = world.restoring[context].fills
    assert plain == Fill(0, (1, 2, 3, 4, 5), (0, 1, 2, 3, 4), (None,) * 5, 0, 0, 0)
    assert adapted == Fill(5, (6, 7, 8), (5, 6, 7), (b"\1\0\0\0",) * 3, 7, 2, -5)
    world.finish_restore(context)
    world.check()


def test_adapters_are_in_use_while_a_fill_refers_to_them(world: World):  # R5
    context = world.filled([1] * 4)
    world.run(context, [2], change=WorkingToken(0, 0, None, 7, 2))
    assert world.store.adapters_in_use() == {(7, 2)}
    world.suspend(context)
    assert world.store.adapters_in_use() == {(7, 2)}
    world.save(context, "ann", "a")
    world.release(context)
    assert world.store.adapters_in_use() == {(7, 2)}
    world.store.snapshots.delete("ann", "a")
    assert world.store.adapters_in_use() == set()


def test_a_page_somebody_else_computed_meanwhile_is_attached(world: World):  # R4
    world.spill_lost = False
    context = world.filled(list(range(10)))
    world.suspend(context)
    world.release(world.press())
    world.filled(list(range(8)))
    world.begin_restore(context)
    assert world.restoring[context].attached == 2
    assert [fill.start for fill in world.restoring[context].fills] == [8]
    world.finish_restore(context)
    world.check()
    assert world.store.usage().shared == 2


def test_equal_pages_committed_during_a_restore_are_merged(world: World):  # K4, R4
    world.spill_lost = False
    context = world.filled(list(range(8)))
    world.suspend(context)
    world.release(world.press())
    world.begin_restore(context)
    world.filled(list(range(8)))
    assert world.store.usage().used == 4
    world.finish_restore(context)
    assert world.store.usage().used == 2
    world.check()


def test_a_branch_that_grew_meanwhile_is_attached_up_to_where_it_leaves(world: World):  # R4, K7
    context = world.filled(list(range(4)))
    other = world.fork(context)
    world.suspend(context)
    world.run(other, list(range(4, 12)))
    world.restore(context)
    world.check()
    assert share_out(world.store.contexts).effective == {context: 0.5, other: 2.5}


def test_what_a_context_inherited_costs_nothing_after_a_restore_either(world: World):  # M10, R6
    context = world.create()
    world.run(context, list(range(8)), commit=False)
    fork = world.fork(context)
    world.suspend(fork)
    world.restore(fork)
    assert world.store.working.commit_full(fork).computed == 0


def test_the_need_counts_what_no_resident_holds(world: World):  # M6
    context = world.filled(list(range(9)))
    world.store.working.reserve(context, 1)
    world.contexts[context].working_pages += 1
    other = world.fork(context)
    assert world.store.suspender.restore_need(context) == 0
    world.suspend(context)
    assert world.store.suspender.restore_need(context) == 2
    world.suspend(other)
    assert world.store.suspender.restore_need(context) == 4
    assert world.store.suspender.restore_need(other) == 3


def test_a_restore_that_does_not_fit_changes_nothing(world: World):  # E3
    context = world.filled(list(range(12)))
    world.suspend(context)
    hog = world.create()
    world.store.working.reserve(hog, 10)
    world.contexts[hog].working_pages = 10
    world.move()
    before = world.store.usage()
    with pytest.raises(OutOfPagesError) as caught:
        world.store.suspender.restore(context)
    assert (caught.value.needed, caught.value.capacity) == (3, 12)
    assert world.store.usage() == before
    world.check()


def test_a_restore_can_be_dropped_and_begun_again(world: World):  # Q3
    world.spill_lost = False
    context = world.filled(list(range(10)))
    world.suspend(context)
    world.release(world.press())
    world.begin_restore(context)
    assert world.store.contexts[context].restoring
    assert world.store.suspender.suspend(context).freed == 3
    world.check()
    world.restore(context)
    world.check()


def test_pages_of_an_unfinished_restore_are_nobodys_prefix(world: World):  # K5
    world.spill_lost = False
    context = world.filled(list(range(8)))
    world.suspend(context)
    world.release(world.press())
    world.begin_restore(context)
    other = world.create()
    assert world.run(other, list(range(8))) == 0
    world.finish_restore(context)
    world.check()


def test_a_fork_of_an_off_pool_context_is_off_pool_with_its_tokens(world: World):  # P14
    context = world.filled(list(range(10)))
    world.store.working.reserve(context, 3)
    world.contexts[context].working_pages += 3
    world.suspend(context)
    fork = world.fork(context)
    assert not world.store.contexts[fork].resident
    assert world.store.contexts[fork].counters().working == 1
    world.restore(fork)
    world.restore(context)
    world.check()


def test_forks_that_share_a_tail_each_get_a_copy(world: World):  # P13, P14
    context = world.filled(list(range(10)))
    world.suspend(context)
    fork = world.fork(context)
    restore = world.store.suspender.restore(fork)
    assert [copy.rows for copy in restore.copies] == [2]
    world.move(restore.copies)
    world.store.suspender.finish_restore(fork)
    world.restore(context)
    world.run(fork, [77])
    world.check()


def test_the_last_page_is_moved_when_there_is_no_room_to_copy_it():  # N6
    world = World(pages=3, page_size=4)
    context = world.filled(list(range(10)))
    world.suspend(context)
    fork = world.fork(context)
    restore = world.store.suspender.restore(fork)
    assert restore.copies == ()
    world.move()
    world.store.suspender.finish_restore(fork)
    world.check()
    world.suspend(fork)
    world.restore(context)
    world.check()


def test_releasing_an_off_pool_context_gives_back_what_it_spilled(world: World):  # R3
    context = world.filled(list(range(10)))
    world.suspend(context, stash=True)
    assert len(world.spill) == 3
    world.release(context)
    world.drop_released()
    assert not world.spill


def test_a_page_spilled_too_late_is_given_back_at_once(world: World):  # R3
    context = world.filled(list(range(10)))
    contents = world.store.suspender.suspend(context).contents
    world.release(context)
    world.store.images.mark_spilled(contents[0], 99)
    assert world.store.images.pop_released() == (99,)


@pytest.mark.parametrize(
    "operation",
    [
        lambda store, context: store.working.reserve(context, 1),
        lambda store, context: store.working.rows(context, 1).slots,
        lambda store, context: store.contexts.resident(context).block_table,
        lambda store, context: store.suspender.finish_restore(context),
    ],
)
def test_content_of_an_off_pool_context_cannot_be_used(world: World, operation):  # P3
    context = world.filled([1] * 6)
    world.suspend(context)
    with pytest.raises(IntegrityError):
        operation(world.store, context)


def test_a_resident_context_cannot_be_restored(world: World):  # R4
    with pytest.raises(IntegrityError):
        world.store.suspender.restore(world.filled([1]))


def test_an_impossible_request_of_an_off_pool_context_is_refused_at_once(world: World):  # P4, Q4
    context = world.filled(list(range(10)))
    world.suspend(context)
    world.store.working.require_capacity(context, 9)
    with pytest.raises(OutOfPagesError, match="can never fit"):
        world.store.working.require_capacity(context, 10)
