"""Which tokens go into a batch, and when it goes to the device."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.policies import (
    POLICIES,
    Chunk,
    FireNow,
    FiringState,
    Limits,
    ReasonKind,
    WaitSeconds,
    is_stalled,
    policy,
    when_to_fire,
)
from tests.engine.policies.scenes import ran, resident, scene

MARKET = policy("market")


def test_decode_verification_and_prefill_share_a_batch():  # Q8
    actors = [resident(1, 1, runs=1), resident(2, 1, runs=5), resident(3, 40, runs=600, atomic=False)]
    assert MARKET.plan(scene(50, actors)).chunks == (Chunk(1, 1, atomic=True), Chunk(2, 5, atomic=True), Chunk(3, 512))


@pytest.mark.parametrize("name", POLICIES)
def test_when_all_fit_bids_change_nothing(name: str):  # Q8
    def chunks(bids: tuple[float, ...]) -> tuple[Chunk, ...]:
        actors = [resident(n, 1, runs=n * 100, atomic=False, bid=bid) for n, bid in enumerate(bids, 1)]
        return policy(name).plan(scene(10, actors)).chunks

    assert chunks((1.0, 2.0, 3.0)) == chunks((3.0, 0.0, 9.0))


def test_slots_go_to_the_highest_bids():  # Q8
    actors = [resident(n, 1, runs=1, bid=bid) for n, bid in ((1, 0.5), (2, 3.0), (3, 1.0))]
    plan = MARKET.plan(scene(10, actors, limits=Limits(max_batch_contexts=2)))
    assert ran(plan) == [2, 3]
    assert plan.waits[0].reason.kind is ReasonKind.BATCH_CONTEXTS


def test_each_context_of_a_gang_takes_a_slot():  # Q8
    actors = [resident(n, 2, runs=2, contexts=2, bid=bid) for n, bid in ((1, 0.5), (2, 3.0))]
    single = resident(3, 1, runs=1, bid=1.0)
    assert ran(MARKET.plan(scene(10, [*actors, single], limits=Limits(max_batch_contexts=4)))) == [2, 3]
    assert ran(MARKET.plan(scene(10, [*actors, single], limits=Limits(max_batch_contexts=5)))) == [1, 2, 3]


def test_a_gang_takes_the_rows_of_its_user():  # Q8
    gangs = [resident(n, 2, runs=3, contexts=3, user="one") for n in (1, 2)]
    actors = [*gangs, resident(3, 1, runs=1, user="two")]
    plan = MARKET.plan(scene(10, actors, limits=Limits(max_user_contexts=4)))
    assert ran(plan) == [1, 3]
    assert plan.waits[0].reason.kind is ReasonKind.USER_SHARE


def test_a_gang_larger_than_a_batch_runs_alone():  # Q8
    actors = [resident(1, 9, runs=9, contexts=9, bid=2.0), resident(2, 1, runs=1)]
    assert ran(MARKET.plan(scene(20, actors, limits=Limits(max_batch_contexts=4)))) == [1]


def test_the_head_gets_a_chunk_though_others_could_fill_the_batch():  # Q8
    actors = [resident(1, 40, runs=600, atomic=False, bid=9.0), *(resident(n, 1, runs=4) for n in range(2, 8))]
    limits = Limits(max_batch_tokens=16, prefill_chunk_tokens=16)
    assert MARKET.plan(scene(50, actors, limits=limits)).chunks == (Chunk(1, 16),)


def test_long_inputs_shrink_before_they_stall_those_that_decode():  # Q8
    prefills = [resident(n, 40, runs=600, atomic=False, bid=9.0) for n in (1, 2)]
    decodes = [resident(n, 1, runs=1) for n in range(3, 8)]
    limits = Limits(max_batch_tokens=100, prefill_chunk_tokens=64)
    plan = MARKET.plan(scene(100, prefills + decodes, limits=limits))
    assert ran(plan) == [1, 2, 3, 4, 5, 6, 7]
    assert [chunk.tokens for chunk in plan.chunks][:2] == [64, 31]


def test_prompts_are_read_one_after_the_other_where_not_all_fit():  # Q8
    prompts = [resident(n, 40, runs=600, atomic=False) for n in (1, 2, 3)]
    plan = MARKET.plan(scene(100, [*prompts, resident(4, 1, runs=1)], limits=Limits(max_batch_tokens=600)))
    assert plan.chunks == (Chunk(1, 512), Chunk(2, 87), Chunk(4, 1, atomic=True))
    assert [(wait.context, wait.reason.kind) for wait in plan.waits] == [(3, ReasonKind.BATCH_TOKENS)]


def test_an_atomic_pass_that_does_not_fit_lets_smaller_ones_run():  # Q5, Q8
    actors = [resident(1, 1, runs=8, bid=9.0), resident(2, 1, runs=8, bid=5.0), resident(3, 1, runs=2, bid=1.0)]
    plan = MARKET.plan(scene(10, actors, limits=Limits(max_batch_tokens=10)))
    assert ran(plan) == [1, 3]
    assert plan.waits[0].reason.kind is ReasonKind.BATCH_TOKENS


def test_an_atomic_head_runs_whole_even_beyond_the_token_limit():  # Q8
    plan = MARKET.plan(scene(10, [resident(1, 1, runs=20)], limits=Limits(max_batch_tokens=8)))
    assert plan.chunks == (Chunk(1, 20, atomic=True),)


def test_waiting_moves_a_bid_of_zero_to_the_head():  # Q2, Q8
    actors = [resident(1, 1, runs=1, bid=5.0), resident(2, 1, runs=1, bid=0.0, waited=65)]
    assert ran(MARKET.plan(scene(10, actors, limits=Limits(max_batch_contexts=1)))) == [2]


@pytest.mark.parametrize("name", POLICIES)
def test_every_runnable_context_has_a_row_within_the_window_and_one_turn_of_all(name: str):  # Q8, T30
    limits = Limits(max_batch_contexts=1)
    waited, longest = {1: 0, 2: 0, 3: 0, 4: 0}, 0
    for _ in range(400):
        actors = [resident(n, 1, runs=1, bid=0.0 if n == 4 else 5.0, waited=waited[n]) for n in waited]
        (head,) = ran(policy(name).plan(scene(10, actors, limits=limits)))
        waited = {n: 0 if n == head else ticks + 1 for n, ticks in waited.items()}
        longest = max(longest, *waited.values())
    assert longest <= 64 + 4


def test_a_bid_of_zero_runs_at_once_when_a_slot_is_free():  # T30
    actors = [resident(n, 1, runs=1, bid=0.0 if n == 4 else 5.0) for n in (1, 2, 3, 4)]
    assert 4 in ran(MARKET.plan(scene(10, actors, limits=Limits(max_batch_contexts=4))))


@given(
    st.lists(
        st.tuples(st.integers(1, 50), st.booleans(), st.floats(0, 9), st.integers(0, 90)), min_size=1, max_size=12
    ),
    st.builds(Limits, st.integers(1, 64), st.integers(1, 8), st.integers(1, 32)),
    st.sampled_from(POLICIES),
)
def test_a_batch_is_never_empty_and_keeps_its_limits(
    passes: list[tuple[int, bool, float, int]], limits: Limits, name: str
):  # Q8
    actors = [
        resident(number, 1, runs=tokens, atomic=atomic, bid=bid, waited=waited)
        for number, (tokens, atomic, bid, waited) in enumerate(passes)
    ]
    wanted = {number: (tokens, atomic) for number, (tokens, atomic, _, _) in enumerate(passes)}
    plan = policy(name).plan(scene(100, actors, limits=limits))
    assert 1 <= len(plan.chunks) <= limits.max_batch_contexts
    assert plan.tokens <= limits.max_batch_tokens or len(plan.chunks) == 1
    assert len(plan.chunks) + len(plan.waits) == len(passes)
    for chunk in plan.chunks:
        tokens, atomic = wanted[chunk.context]
        assert chunk.tokens == tokens if atomic else 1 <= chunk.tokens <= min(tokens, limits.prefill_chunk_tokens)


def test_a_context_without_a_row_because_of_its_user_waits_for_that_reason():  # Q8
    actors = [resident(n, 1, runs=1, bid=n, user="mallory" if n > 1 else "ada") for n in range(1, 5)]
    plan = MARKET.plan(scene(10, actors, limits=Limits(max_user_contexts=2)))
    assert ran(plan) == [1, 3, 4]
    assert [(wait.context, wait.reason.kind) for wait in plan.waits] == [(2, ReasonKind.USER_SHARE)]


def everyone(context: int) -> bool:
    return True


USUAL = FiringState((frozenset({1, 2, 3, 4}),), (0.02, 0.02), 3)


@pytest.mark.parametrize(
    ("state", "runnable", "may_return", "oldest_seconds"),
    [
        (USUAL, [5, 6, 7, 8], everyone, 0.0),
        (USUAL, [4, 3, 2, 1], everyone, 0.0),
        (FiringState((), (0.02, 0.02), 3), [1], everyone, 0.0),
        (FiringState((frozenset({1, 2}),), (), 1), [1], everyone, 0.0),
        (USUAL, [1], everyone, 0.02),
        (USUAL, [1, 2], {1, 2, 5}.__contains__, 0.0),
    ],
    ids=[
        "batch full",
        "all of the last one",
        "first fire",
        "no batch timed yet",
        "waited as long as a batch",
        "the others are gone",
    ],
)
def test_a_batch_fires_at_once(
    state: FiringState, runnable: list[int], may_return: Callable[[int], bool], oldest_seconds: float
):  # Q9
    assert when_to_fire(state, runnable, may_return, 4, oldest_seconds) == FireNow()


def test_a_batch_waits_for_those_of_the_last_at_most_as_long_as_it_took():  # Q9
    assert when_to_fire(USUAL, [1, 2, 3], everyone, 8, 0.005) == WaitSeconds(0.015)


def test_who_missed_two_batches_is_no_longer_awaited():  # Q9
    assert USUAL.fired([1, 2, 3]).missing([1, 2, 3]) == {4}
    assert not USUAL.fired([1, 2, 3]).fired([1, 2, 3]).missing([1, 2, 3])


def test_the_first_batch_is_warm_up_and_sets_no_time():  # Q9
    first = FiringState().completed(5.0)
    assert first.last_batch_seconds == 0.0
    assert first.completed(0.03).last_batch_seconds == 0.03


def test_a_long_prefill_makes_nobody_wait_as_long():  # Q9
    assert USUAL.completed(0.5).last_batch_seconds == 0.02


def test_programs_have_one_batch_time_to_answer_before_the_engine_counts_as_stalled():  # Q2
    assert not is_stalled(USUAL, 0.01)
    assert is_stalled(USUAL, 0.02)
