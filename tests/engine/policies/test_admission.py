import pytest
from hypothesis import given
from hypothesis import strategies as st

from pie_mlx.engine.policies import Admission, AdmissionTerms, end_launch, request_launch
from pie_mlx.errors import AdmissionError

TERMS = AdmissionTerms(capacity_pages=64, max_batch_contexts=4, oversubscription=1.0)
"""fair = 16, slack = 4, cap = 68."""


def launched(count: int, terms: AdmissionTerms = TERMS, endowment: float = 64) -> Admission:
    state = Admission()
    for account in range(count):
        state, _ = request_launch(state, terms, account, endowment)
    return state


def test_a_claim_is_the_endowment_but_no_more_than_a_fair_part_of_the_pool():  # Q11
    assert (TERMS.claim(64), TERMS.claim(3)) == (16, 3)
    assert AdmissionTerms(capacity_pages=2, max_batch_contexts=64).claim(64) == 1


def test_a_claim_covers_the_state_of_a_context():  # Q11, P16
    terms = AdmissionTerms(capacity_pages=640, max_batch_contexts=64, state_pages=20)
    assert terms.claim(64) == 21
    assert terms.claim(0.5) == 20.5


def test_the_cap_is_the_oversubscribed_pool_and_some_slack():  # Q11
    assert TERMS.cap == 68
    assert AdmissionTerms(capacity_pages=4096).cap == 4096 * 4 + 64


def test_launches_start_while_their_claims_fit():  # Q11
    assert list(launched(4).claims) == [0, 1, 2, 3]


def test_a_launch_beyond_the_cap_queues_and_raises_a_barrier():  # Q11
    state = launched(5)
    assert [launch.account for launch in state.queue] == [4]
    assert state.resume_below == 68 - 16 * 4


def test_behind_a_barrier_even_a_small_launch_queues():  # Q11
    state, started = request_launch(launched(5), TERMS, 9, 1)
    assert started == ()
    assert [launch.account for launch in state.queue] == [4, 9]


def test_the_queue_moves_on_in_order_once_the_claims_fell_to_the_barrier():  # Q11
    state, _ = request_launch(launched(5), TERMS, 9, 1)
    for account in (0, 1, 2):
        state, started = end_launch(state, TERMS, account)
        assert started == ()
    state, started = end_launch(state, TERMS, 3)
    assert started == (4, 9)
    assert (state.queue, state.resume_below) == ((), None)


def test_a_user_has_its_share_whatever_another_one_claims_and_however_many_of_its_launches_wait():  # Q11
    state = launched(40)
    for account, starts in [(100, True), (101, True), (102, False)]:
        state, started = request_launch(state, TERMS, account, 64, "ada")
        assert started == ((account,) if starts else ())
    state, started = end_launch(state, TERMS, 100)
    assert started == (102,)


def test_a_launch_that_is_given_up_leaves_the_queue_and_its_barrier():
    state, _ = end_launch(launched(5), TERMS, 4)
    assert (state.queue, state.resume_below) == ((), None)


def test_a_claim_that_can_never_fit_is_refused():  # Q11
    with pytest.raises(AdmissionError, match="admission ends at"):
        request_launch(Admission(), AdmissionTerms(100, 1, oversubscription=0.5), 1, 64)


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 100)), max_size=40))
def test_every_launch_starts_once_the_others_ended(steps: list[tuple[bool, int]]):  # Q11
    state, account, waiting, live = Admission(), 0, [], []
    for ends, endowment in steps:
        if ends and live:
            state, started = end_launch(state, TERMS, live.pop(0))
        else:
            state, started = request_launch(state, TERMS, account, endowment)
            waiting.append(account)
            account += 1
        assert list(started) == waiting[: len(started)]
        live += started
        del waiting[: len(started)]
        assert state.claimed <= TERMS.cap
    while live:
        state, started = end_launch(state, TERMS, live.pop(0))
        live += started
        del waiting[: len(started)]
    assert waiting == []


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 100), st.sampled_from("abc")), max_size=40))
def test_no_user_waits_within_its_share_and_those_of_a_user_start_in_order(  # Q11
    steps: list[tuple[bool, int, str]],
):
    state, waiting, live = Admission(), {user: list[int]() for user in "abc"}, list[int]()
    for account, (ends, endowment, user) in enumerate(steps):
        if ends and live:
            state, started = end_launch(state, TERMS, live.pop(0))
        else:
            state, started = request_launch(state, TERMS, account, endowment, user)
            waiting[user].append(account)
        for one in started:
            assert waiting[state.claims[one].user].pop(0) == one
        live += started
        users = {launch.user for launch in (*state.claims.values(), *state.queue)}
        firsts = {launch.user: launch for launch in reversed(state.queue)}
        for launch in firsts.values() if len(users) > 1 else ():
            held = sum(other.claim for other in state.claims.values() if other.user == launch.user)
            assert held + launch.claim > TERMS.cap / len(users)
        assert state.claimed <= TERMS.cap * (1 + 1 / 2 + 1 / 3)
