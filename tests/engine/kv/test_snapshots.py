"""Snapshots."""

import pytest

from pie_mlx.engine.kv import CommitResult, PageStore, WorkingToken
from pie_mlx.engine.kv.snapshot_limits import SnapshotLimits
from pie_mlx.errors import InvalidArgumentError, SnapshotError, SnapshotNotFoundError
from tests.engine.kv.world import World


@pytest.fixture
def world() -> World:
    return World(pages=12, page_size=4)


@pytest.fixture
def store() -> PageStore:
    """Whose users keep next to nothing."""
    limits = SnapshotLimits(user_snapshots=2, user_bytes=1 << 20)
    return PageStore(pages=12, page_size=16, identity=b"model", snapshot_limits=limits)


def test_a_name_saved_twice_gives_the_second_state(world: World):  # N2, T13
    context = world.filled([1] * 6)
    world.save(context, "ann", "a", "first")
    world.run(context, [2])
    world.save(context, "ann", "a", "second")
    opened = world.open("ann", "a")
    assert opened is not None
    assert world.store.sequence_length(opened) == 7
    world.check()


def test_open_leaves_the_snapshot_and_take_removes_it(world: World):  # N4, T13
    world.save(world.filled([1] * 6), "ann", "a")
    assert world.open("ann", "a") != world.open("ann", "a")
    assert world.open("ann", "a", take=True) is not None
    assert world.store.open("ann", "a") is None
    assert world.store.take("ann", "a") is None
    with pytest.raises(SnapshotNotFoundError):
        world.store.snapshots.delete("ann", "a")
    world.check()


def test_users_do_not_see_each_others_snapshots(world: World):  # N5, T13
    context = world.filled([1] * 6)
    world.save(context, "ann", "a")
    assert world.store.open("bob", "a") is None
    world.run(context, [2])
    world.save(context, "bob", "a")
    world.store.snapshots.delete("ann", "a")
    opened = world.open("bob", "a")
    assert opened is not None
    assert world.store.sequence_length(opened) == 7


def test_a_snapshot_outlives_its_creator(world: World):  # N1, T13
    context = world.filled([1] * 6)
    world.save(context, "ann", "a")
    world.release(context)
    assert world.store.usage().snapshot_only == 2
    assert world.open("ann", "a", take=True) is not None
    world.check()


def test_what_was_saved_beside_the_pages_comes_back(world: World):  # N1, T14
    notes = object()
    world.save(world.filled([1]), "ann", "a", notes)
    opened = world.store.open("ann", "a")
    assert opened is not None
    assert opened.notes is notes


def test_a_snapshot_does_not_hold_what_its_context_commits_later(world: World):  # N1
    context = world.filled([1] * 8)
    world.save(context, "ann", "a")
    world.run(context, [2] * 4)
    world.release(context)
    usage = world.store.usage()
    assert (usage.snapshot_only, usage.cached) == (2, 1)


def test_a_taken_snapshot_is_moved_without_a_copy(world: World):  # N4
    context = world.filled([1] * 6)
    world.save(context, "ann", "a")
    opened = world.store.take("ann", "a")
    assert opened is not None
    assert (opened.resident, opened.copies) == (True, ())


def test_a_copy_of_a_snapshot_goes_its_own_way(world: World):  # N4
    world.save(world.filled([1] * 6), "ann", "a")
    first = world.open("ann", "a")
    assert first is not None
    world.run(first, [7, 8])
    second = world.open("ann", "a")
    assert second is not None
    world.run(second, [9])
    world.check()


def test_empty_reservations_are_not_saved(world: World):  # N1
    context = world.filled([1] * 6)
    world.store.working.reserve(context, 3)
    world.contexts[context].working_pages += 3
    world.save(context, "ann", "a")
    assert world.store.usage().snapshot_only == 1
    world.open("ann", "a")
    world.check()


def test_empty_reservations_are_not_saved_off_pool_either(world: World):  # N1, N2
    context = world.filled([1] * 6)
    world.store.working.reserve(context, 3)
    world.contexts[context].working_pages += 3
    world.suspend(context)
    world.save(context, "ann", "a")
    world.open("ann", "a")
    world.check()


@pytest.mark.parametrize("off_pool", [False, True], ids=["resident", "off-pool"])
def test_pages_of_an_opened_snapshot_were_not_computed_by_who_opened_it(world: World, off_pool: bool):  # N4, M10
    context = world.create()
    world.run(context, list(range(8)), commit=False)
    if off_pool:
        world.suspend(context)
    world.save(context, "ann", "a")
    opened = world.open("ann", "a")
    assert opened is not None
    assert world.store.working.commit_full(opened) == CommitResult(pages=2, computed=0, deduplicated=0)


def test_reclaimed_snapshots_open_off_pool_and_whole(world: World):  # N6
    world.spill_lost = False
    context = world.filled(list(range(10)))
    world.save(context, "ann", "a")
    world.release(context)
    hog = world.press()
    opened = world.open("ann", "a")
    assert opened is not None
    assert not world.store.contexts[opened].resident
    world.release(hog)
    world.begin_restore(opened)
    assert [len(fill.tokens) for fill in world.restoring[opened].fills] == [10]
    world.finish_restore(opened)
    world.check()


def test_a_reclaimed_snapshot_is_read_back_where_it_was_spilled(world: World):  # N6
    context = world.filled(list(range(10)))
    world.save(context, "ann", "a")
    world.release(context)
    world.release(world.press())
    assert len(world.spill) == 3
    opened = world.open("ann", "a")
    assert opened is not None
    world.begin_restore(opened)
    assert len(world.restoring[opened].reads) == 3
    world.finish_restore(opened)
    world.check()


def test_a_save_without_a_free_page_keeps_the_working_tokens():  # N6
    world = World(pages=3, page_size=4)
    context = world.filled(list(range(10)))
    assert world.store.snapshots.save(context, "ann", "a", None) == ()
    world.snapshots["ann", "a"] = (world.contexts[context], None)
    world.release(context)
    opened = world.store.take("ann", "a")
    assert opened is not None
    assert not opened.resident
    assert world.store.contexts[opened.context].counters().working_tokens == 2


def test_saving_and_opening_off_pool_needs_no_restore(world: World):  # N2
    context = world.filled(list(range(10)))
    world.suspend(context)
    world.save(context, "ann", "a")
    world.release(context)
    opened = world.open("ann", "a")
    assert opened is not None
    assert world.store.contexts[opened].resident
    world.check()


def test_saving_off_pool_keeps_every_cached_page_of_the_snapshot(world: World):  # N2
    context = world.filled([1] * 4)
    fork = world.fork(context)
    world.run(context, [2] * 4)
    world.run(fork, [3] * 4)
    world.suspend(context)
    world.release(fork)
    world.save(context, "ann", "a")
    usage = world.store.usage()
    assert (usage.snapshot_only, usage.cached) == (2, 1)
    world.check()


def test_a_context_opened_without_room_waits_off_pool(world: World):  # N6
    world.save(world.filled(list(range(10))), "ann", "a")
    world.press()
    opened = world.open("ann", "a")
    assert opened is not None
    assert not world.store.contexts[opened].resident
    assert world.store.suspender.restore_need(opened) == 1
    world.check()


def test_deleting_a_snapshot_gives_back_pages_and_spill(world: World):  # N4
    context = world.filled(list(range(10)))
    world.save(context, "ann", "a")
    world.release(context)
    world.release(world.press())
    world.store.snapshots.delete("ann", "a")
    world.drop_released()
    assert not world.spill
    assert world.store.usage().snapshot_only == 0


@pytest.mark.parametrize("name", ["", "x" * 257, "__snapshot_1", "__snapshot_mine"])
def test_a_bad_name_is_refused_and_saves_nothing(world: World, name: str):  # N1, N3
    context = world.filled([1] * 6)
    before = world.store.usage()
    with pytest.raises(InvalidArgumentError):
        world.store.snapshots.save(context, "ann", name, None)
    assert world.store.usage() == before


def test_a_name_of_256_characters_is_fine(world: World):  # N1
    world.save(world.filled([1]), "ann", "x" * 256)


def test_a_fresh_name_serves_one_save(world: World):  # N3
    context = world.filled([1] * 6)
    first, second = world.store.snapshots.fresh_name(), world.store.snapshots.fresh_name()
    assert first != second
    world.save(context, "ann", first)
    with pytest.raises(InvalidArgumentError):
        world.store.snapshots.save(context, "ann", first, None)
    world.save(context, "ann", second)
    assert world.open("ann", first) is not None
    assert world.open("ann", second) is not None


def test_a_user_keeps_so_many_snapshots(store: PageStore):
    context = store.create()
    for name in ("a", "b"):
        store.snapshots.save(context, "ann", name, None)
    with pytest.raises(SnapshotError, match="a user may keep 2") as caught:
        store.snapshots.save(context, "ann", "c", None)
    assert "take or delete" in caught.value.hint
    store.snapshots.save(context, "ann", "b", "another one")
    store.snapshots.save(context, "bob", "c", None)
    store.snapshots.delete("ann", "a")
    store.snapshots.save(context, "ann", "c", None)
    assert store.take("ann", "c") is not None
    store.snapshots.save(context, "ann", "d", None)
    store.check_integrity()


def test_a_user_keeps_so_much_in_snapshots(store: PageStore):
    context = store.create()
    store.working.reserve(context, 2)
    store.working.append(context, [WorkingToken(1, place) for place in range(20)])
    store.snapshots.save(context, "ann", "a", None, 1 << 19)
    with pytest.raises(SnapshotError):
        store.snapshots.save(context, "ann", "b", None, 1 << 19)
    with pytest.raises(SnapshotError):
        store.snapshots.save(context, "ann", "a", None, 1 << 20)
    found = store.open("ann", "a")
    assert found is not None
    store.snapshots.save(context, "ann", "a", None, (1 << 20) - 160 * 20)
    store.working.commit_full(context)
    store.snapshots.save(context, "ann", "a", None, (1 << 20) - 16 * 16 - 160 * 4)
    store.check_integrity()


def test_what_comes_from_elsewhere_is_counted_and_let_in(store: PageStore):
    context = store.create()
    for name in ("a", "b"):
        store.put_snapshot("ann", name, store.contexts[context].transcript(), None, 10)
    assert not store.snapshots.is_overfull("ann")
    store.put_snapshot("ann", "c", store.contexts[context].transcript(), None, 10)
    assert store.snapshots.is_overfull("ann")
    assert store.take("ann", "c") is not None
    assert not store.snapshots.is_overfull("ann")
    store.check_integrity()


def test_the_end_of_a_snapshot_ends_the_keeping_of_what_follows_it_too(world: World):
    now = 0.0
    world.store.pool.clock = lambda: now
    context = world.filled([1] * 4)
    world.save(context, "ann", "a")
    world.run(context, [2] * 4)
    world.store.keep(context, 1.0, 1.0)
    world.release(context)
    now = 1.0
    world.store.snapshots.delete("ann", "a")
    world.snapshots.clear()
    world.check()
