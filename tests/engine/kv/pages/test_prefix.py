"""Page identity, sharing and the prefix cache."""

import pytest

from pie_mlx.engine.kv import PageHasher, PageStore, PoolUsage, WorkingToken, share_out
from pie_mlx.engine.kv.masks import canonical_row
from pie_mlx.engine.kv.pages.record import NO_PAGE
from pie_mlx.errors import PageCommitError
from tests.engine.kv.world import World

PAGE = [WorkingToken(5 + i, i) for i in range(4)]
OTHERS = {
    "token": PAGE[2]._replace(token=9),
    "position": PAGE[2]._replace(position=9),
    "mask": PAGE[2]._replace(mask=b"\1\0\0\0"),
    "adapter": PAGE[2]._replace(adapter=1),
    "adapter version": PAGE[2]._replace(adapter_version=1),
    "seed": PAGE[2]._replace(zo_seed=-1),
}


@pytest.fixture
def world() -> World:
    return World(pages=12, page_size=4)


def press(world: World) -> None:
    """Takes the free pages, so that the next request reclaims."""
    hog = world.create()
    free = world.store.usage().free
    world.store.working.reserve(hog, free)
    world.contexts[hog].working_pages = free


@pytest.mark.parametrize("token", OTHERS.values(), ids=OTHERS.keys())
def test_a_key_depends_on_every_property_of_every_token(token: WorkingToken):  # K1, T9
    hasher = PageHasher(b"model", 4)
    assert hasher.key(NO_PAGE, PAGE) != hasher.key(NO_PAGE, [*PAGE[:2], token, PAGE[3]])


def test_a_key_depends_on_model_page_size_and_parent():  # K1
    same = [WorkingToken(1, 0)] * 4
    keys = {
        PageHasher(b"model", 4).key(NO_PAGE, same),
        PageHasher(b"other", 4).key(NO_PAGE, same),
        PageHasher(b"model", 2).key(NO_PAGE, same[:2]),
        PageHasher(b"model", 4).key(bytes([1]) * 16, same),
    }
    assert len(keys) == 4
    assert {len(key) for key in keys} == {16}


def test_the_place_of_a_mask_enters_the_key():  # K1
    hasher = PageHasher(b"model", 4)
    ab = [PAGE[0]._replace(mask=b"a"), PAGE[1]._replace(mask=b"bb"), *PAGE[2:]]
    ba = [PAGE[0]._replace(mask=b"ab"), PAGE[1]._replace(mask=b"b"), *PAGE[2:]]
    assert hasher.key(NO_PAGE, ab) != hasher.key(NO_PAGE, ba)


def test_a_key_does_not_depend_on_what_was_hashed_before():  # K1
    adapted = [token._replace(adapter=3, zo_seed=7) for token in PAGE]
    fresh = PageHasher(b"model", 4).key(NO_PAGE, adapted)
    used = PageHasher(b"model", 4)
    keys = [used.key(NO_PAGE, [t._replace(adapter=3, zo_seed=seed) for t in PAGE]) for seed in [*range(1100), 7]]
    assert keys[-1] == fresh
    assert len(set(keys)) == 1100


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS.keys())
def test_pages_that_differ_in_anything_are_not_shared(world: World, change: WorkingToken):  # T9
    for token in (PAGE[2], change):
        context = world.create()
        world.store.working.reserve(context, 1)
        world.store.working.append(context, [*PAGE[:2], token, PAGE[3]])
        assert world.store.working.commit(context, 1).deduplicated == 0
    world.store.check_integrity()
    assert world.store.usage().used == 2


def test_two_spellings_of_a_mask_are_shared(world: World):  # K2, T9
    for rows in ([[0, 9], [0, 2]], [[0, 1, 0], [0, 1, 0, 1]]):
        masks = [canonical_row(row, slot) for slot, row in enumerate(rows)] + [None, None]
        context = world.store.create()
        world.store.working.reserve(context, 1)
        world.store.working.append(
            context, [token._replace(mask=mask) for token, mask in zip(PAGE, masks, strict=True)]
        )
        world.store.working.commit(context, 1)
    assert world.store.usage().shared == 1


def test_equal_prompts_of_one_batch_are_merged_at_commit(world: World):  # K4
    first, second = world.create(), world.create()
    world.run(first, list(range(9)), commit=False)
    world.run(second, list(range(9)), commit=False)
    assert world.store.usage().used == 6
    world.finish_pass(first, commit=True)
    world.finish_pass(second, commit=True)
    assert world.store.usage() == PoolUsage(capacity=12, free=8, cached=0, snapshot_only=0, used=4, shared=2)
    world.check()


def test_a_page_whose_key_belongs_to_other_tokens_is_kept_private():  # K3
    world = World(pages=12, page_size=4, weak_keys=True)
    contexts = [world.create() for _ in range(4)]
    for number, context in enumerate(contexts):
        world.run(context, [number] * 4)
    assert world.store.usage().used == 4
    world.check()
    again = world.create()
    for number in range(4):
        world.run(again, [number] * 4)
    world.check()


def test_a_restore_leaves_the_pages_of_other_tokens_with_the_same_key_alone():  # K3
    world = World(pages=12, page_size=4, weak_keys=True)
    away = [world.filled([number] * 4) for number in range(4)]
    for context in away:
        world.suspend(context)
    world.release(world.press())
    for number in range(4, 8):
        world.run(world.create(), [number] * 4)
    for context in away:
        world.restore(context)
    world.check()


def test_a_second_equal_prompt_computes_only_its_last_tokens():  # K5, K6, T11
    world = World(pages=200, page_size=16)
    context = world.create()
    world.run(context, list(range(1000)), limit=999)
    world.release(context)
    assert world.store.usage().cached == 62
    again = world.create()
    assert world.run(again, list(range(1000)), limit=999) == 992
    world.check()


@pytest.mark.parametrize(("limit", "attached"), [(None, 8), (8, 8), (7, 4), (3, 0), (0, 0)])
def test_the_attached_part_ends_before_the_first_wanted_row(world: World, limit: int | None, attached: int):  # K6
    world.run(world.create(), list(range(8)))
    assert world.run(world.create(), list(range(8)), limit=limit) == attached
    world.check()


def test_working_tokens_are_part_of_the_match(world: World):  # K5
    world.run(world.create(), list(range(8)))
    context = world.create()
    world.run(context, [0, 1])
    world.store.working.reserve(context, 2)
    world.contexts[context].working_pages += 2
    assert world.run(context, [2, 3, 4, 5, 6, 7, 8]) == 6
    assert world.store.contexts[context].counters().working == 2
    world.check()


def test_a_match_ends_at_the_first_page_that_differs(world: World):  # K7
    world.run(world.create(), list(range(12)))
    assert world.run(world.create(), [0, 1, 2, 3, 4, 9, 6, 7, 8, 9, 10, 11]) == 4
    world.check()


def test_attached_pages_obey_the_order_of_positions(world: World):  # K5, P7
    world.run(world.create(), list(range(8)))
    context = world.create()
    world.run(context, [0, 1, 2, 3], change=WorkingToken(0, 90))
    assert world.run(context, [4, 5, 6, 7]) == 0
    world.check()


def test_an_attached_page_lies_above_those_attached_before_it(world: World):  # K5, P7, P10
    store, tokens = world.store, [WorkingToken(i, (100 + i) % 104) for i in range(8)]
    contexts = [store.create(), store.create()]
    for context in contexts:
        store.working.reserve(context, 2)
        store.working.append(context, tokens)
    store.working.commit(contexts[0], 2)
    assert store.working.match_prefix(contexts[1], [WorkingToken(8, 8)]) == 0
    assert [store.contexts[context].counters().committed for context in contexts] == [2, 1]
    for context in contexts:
        store.working.reserve(context, 1)
        store.working.append(context, [WorkingToken(8 + i, 8 + i) for i in range(4)])
        with pytest.raises(PageCommitError):
            store.working.commit(context, 1)


def test_nothing_is_attached_below_another_adapter(world: World):  # K1, A4
    world.run(world.create(), list(range(8)), change=WorkingToken(0, 0, None, 1, 1))
    assert world.run(world.create(), list(range(8))) == 0
    assert world.run(world.create(), list(range(8)), change=WorkingToken(0, 0, None, 1, 2)) == 0
    assert world.run(world.create(), list(range(8)), change=WorkingToken(0, 0, None, 1, 1)) == 8


def test_shares_follow_the_holders_at_once():  # K9, T8
    world = World(pages=12, page_size=4)
    first, second = world.create(), world.create()
    world.run(first, list(range(8)))
    world.run(second, list(range(8)))
    assert share_out(world.store.contexts).effective == {first: 1.0, second: 1.0}
    world.release(first)
    assert share_out(world.store.contexts).effective[second] == 2.0
    world.release(second)
    assert world.store.usage() == PoolUsage(capacity=12, free=10, cached=2, snapshot_only=0, used=0, shared=0)


def test_an_own_page_counts_wholly_and_a_shared_one_in_parts():  # K9, T8
    world = World(pages=12, page_size=4)
    first = world.create()
    world.run(first, list(range(12)))
    second = world.fork(first)
    assert share_out(world.store.contexts).effective == {first: 1.5, second: 1.5}
    world.run(second, [1])
    assert share_out(world.store.contexts).effective == {first: 1.5, second: 2.5}
    assert world.held_alone(second) == 1


def test_holdings_tell_what_each_could_give_and_what_must_go_together(world: World):  # Q3
    first = world.filled(list(range(8)))
    second = world.fork(first)
    third = world.fork(first)
    world.run(second, [8])
    held = world.store.holdings()
    assert held.private_pages == {first: 0, second: 1, third: 0}
    assert [(run.pages, run.holders) for run in held.runs] == [(2, 3)]
    assert set(held.runs_of.values()) == {(held.runs[0].run,)}


def test_pages_an_off_pool_context_would_find_count_as_shared(world: World):  # M6, Q6
    first = world.filled(list(range(8)))
    second = world.fork(first)
    world.suspend(second)
    held = world.store.holdings()
    assert held.private_pages == {first: 0}
    assert [(run.pages, run.holders) for run in held.runs] == [(2, 1)]
    assert held.runs_of[second] == held.runs_of[first]
    assert held.effective == {first: 2.0}


def test_snapshots_and_cached_pages_are_no_holders(world: World):  # K9
    context = world.create()
    world.run(context, list(range(8)))
    world.save(context, "ann", "a")
    world.run(context, list(range(8, 12)))
    assert share_out(world.store.contexts).effective[context] == 3.0


def test_the_oldest_leaf_is_reclaimed_first(world: World):  # K8, T12
    older, newer = world.create(), world.create()
    world.run(older, [1] * 8)
    world.run(newer, [2] * 8)
    world.release(older)
    world.release(newer)
    press(world)
    world.run(world.create(), [3])
    assert world.run(world.create(), [2] * 8) == 8
    assert world.run(world.create(), [1] * 4, limit=4) == 4


def test_use_makes_a_cached_page_young_again(world: World):  # K8
    first, second = world.create(), world.create()
    world.run(first, [1] * 4)
    world.run(second, [2] * 4)
    world.release(first)
    world.release(second)
    again = world.create()
    world.run(again, [1] * 4)
    world.release(again)
    press(world)
    world.run(world.create(), [3])
    assert world.run(world.create(), [1] * 4) == 4


def test_free_then_cached_then_snapshot_pages_are_taken(world: World):  # K8, N6
    saved, cached = world.create(), world.create()
    world.run(saved, [1] * 4)
    world.save(saved, "ann", "a")
    world.run(cached, [2] * 4)
    world.release(saved)
    world.release(cached)
    store, hog = world.store, world.create()
    assert store.pool.available() == 12
    for taken, left in ((10, (0, 1, 1)), (1, (0, 0, 1)), (1, (0, 0, 0))):
        store.working.reserve(hog, taken)
        usage = store.usage()
        assert (usage.free, usage.cached, usage.snapshot_only) == left


def test_pages_of_a_live_context_are_never_taken(world: World):  # T12
    context = world.create()
    world.run(context, [1] * 12)
    hog = world.create()
    world.store.working.reserve(hog, 9)
    assert world.store.pool.available() == 0
    world.contexts[hog].working_pages = 9
    world.check()


def test_a_fork_of_a_long_context_touches_nothing_of_its_length():  # P13
    store = PageStore(pages=600, page_size=4, identity=b"model")
    context = store.create()
    store.working.reserve(context, 500)
    store.working.append(context, [WorkingToken(1, i) for i in range(2000)])
    store.working.commit_full(context)
    forks = [store.fork(context).context for _ in range(9)]
    assert store.usage().used == 500
    assert share_out(store.contexts).effective[forks[0]] == pytest.approx(500 / 10)
    store.check_integrity()
