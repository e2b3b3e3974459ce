import pytest

from pie_mlx.engine.policies import POLICIES, Limits, Policy, ReasonKind, SharedRun, policy
from tests.engine.policies.scenes import off_pool, ran, resident, scene, suspended, waiting

MARKET = policy("market")


@pytest.fixture(params=POLICIES)
def each_policy(request: pytest.FixtureRequest) -> Policy:
    return policy(request.param)


def test_requests_are_granted_while_pages_are_available(each_policy: Policy):  # Q4.3
    plan = each_policy.plan(scene(20, [resident(1, 5, wants=3), resident(2, 5, wants=2)]))
    assert (plan.grants, plan.suspensions, plan.waits) == ((1, 2), (), ())


def test_a_granted_pass_runs_in_the_same_tick(each_policy: Policy):
    assert ran(each_policy.plan(scene(20, [resident(1, 5, wants=3)]))) == [1]


def test_nobody_is_suspended_while_everything_fits(each_policy: Policy):  # Q4.3, Q6
    actors = [resident(1, 5, bid=0.0), off_pool(2, 5, bid=9.0), off_pool(3, 10, bid=0.0)]
    plan = each_policy.plan(scene(20, actors))
    assert (sorted(plan.restores), plan.suspensions) == ([2, 3], ())


def test_a_request_takes_the_pages_of_the_lowest_bid_first():  # Q3, Q4.4
    actors = [resident(1, 4, bid=1.0), resident(2, 4, bid=0.5), resident(3, 4, bid=2.0, wants=3)]
    plan = MARKET.plan(scene(12, actors))
    assert (suspended(plan), plan.grants) == ([2], (3,))


def test_of_equal_bids_the_newest_yields_first():  # Q3
    actors = [resident(1, 4, bid=1.0, wants=2), resident(2, 4, bid=1.0), resident(3, 4, bid=1.0)]
    assert suspended(MARKET.plan(scene(12, actors))) == [3]


def test_a_defaulted_account_yields_first():  # Q3a
    actors = [resident(1, 4, bid=0.1), resident(2, 4, bid=9.0, defaulted=True), resident(3, 4, bid=1.0, wants=3)]
    plan = MARKET.plan(scene(12, actors))
    assert suspended(plan) == [2]
    assert plan.suspensions[0].reason.kind is ReasonKind.DEFAULTED


def test_a_restore_takes_strictly_lower_bids_only():  # Q3c
    actors = [resident(1, 6, bid=1.0), off_pool(2, 6, bid=1.0)]
    plan = MARKET.plan(scene(10, actors))
    assert (suspended(plan), waiting(plan)) == ([], [2])
    assert MARKET.plan(scene(10, [resident(1, 6, bid=0.9), actors[1]])).restores == (2,)


def test_defaulted_accounts_do_not_evict_each_other_in_turn():  # Q3
    actors = [resident(1, 6, bid=1.0, defaulted=True), off_pool(2, 6, bid=5.0, defaulted=True)]
    assert MARKET.plan(scene(10, actors)).suspensions == ()


def test_nobody_is_touched_when_all_victims_together_would_not_suffice():  # Q4.4
    actors = [resident(1, 2, bid=0.5), resident(2, 8, bid=5.0), off_pool(3, 4, bid=1.0)]
    plan = MARKET.plan(scene(10, actors))
    assert (suspended(plan), waiting(plan)) == ([], [3])


def test_only_as_many_yield_as_are_needed():  # Q4.4
    actors = [resident(n, 3, bid=0.1 * n) for n in (1, 2, 3)] + [resident(4, 1, bid=5.0, wants=4)]
    assert suspended(MARKET.plan(scene(10, actors))) == [1, 2]


def test_nobody_is_patient_with_a_context_that_makes_way_for_another():  # Q3, Q4.5
    actors = [
        resident(1, 1, bid=0.1, fresh=True, runs=1),
        resident(2, 4, bid=0.2),
        off_pool(3, 4, bid=2.0),
        resident(4, 4, bid=1.0, wants=3),
    ]
    plan = MARKET.plan(scene(9, actors))
    assert suspended(plan) == [2, 4]


def test_a_waiting_context_of_a_higher_bid_takes_the_requesters_pages():  # T25
    actors = [resident(1, 6, bid=1.0, wants=2), off_pool(2, 8, bid=2.0)]
    plan = MARKET.plan(scene(10, actors))
    assert (suspended(plan), plan.restores, plan.grants) == ([1], (2,), ())


def test_without_a_victim_the_requester_makes_way_itself():  # T26
    actors = [resident(1, 8, bid=5.0), resident(2, 2, bid=1.0, wants=3)]
    plan = MARKET.plan(scene(10, actors))
    assert suspended(plan) == [2]
    assert plan.suspensions[0].for_context == 2
    assert plan.suspensions[0].reason.kind is ReasonKind.NO_PAGES


def test_pages_of_a_context_that_made_way_go_to_the_first_in_rank():  # Q6
    actors = [
        resident(1, 5, bid=9.0),
        resident(2, 5, bid=1.0, wants=6),
        off_pool(3, 5, bid=0.9),
        off_pool(4, 5, bid=0.5),
    ]
    plan = MARKET.plan(scene(10, actors))
    assert (suspended(plan), plan.restores) == ([2], (3,))


def test_a_request_that_cannot_be_met_does_not_block_one_that_can():  # Q5
    actors = [resident(1, 6, bid=5.0), off_pool(2, 8, bid=2.0), off_pool(3, 3, bid=0.5)]
    plan = MARKET.plan(scene(10, actors))
    assert (plan.restores, waiting(plan)) == ((3,), [2])


def test_a_requester_is_patient_with_contexts_that_first_run_what_they_were_restored_for():  # Q3
    actors = [resident(1, 6, bid=0.5, fresh=True, runs=1), resident(2, 4, bid=1.0, wants=3)]
    plan = MARKET.plan(scene(10, actors))
    assert (suspended(plan), waiting(plan), ran(plan)) == ([], [2], [1])


def test_a_due_context_takes_pages_of_any_bid():  # Q3d
    actors = [resident(1, 6, bid=9.0, fresh=True), off_pool(2, 6, bid=0.0, waited=64)]
    plan = MARKET.plan(scene(10, actors))
    assert (suspended(plan), plan.restores) == ([1], (2,))
    assert plan.suspensions[0].reason.kind is ReasonKind.YIELDS_TO_DUE


def test_a_due_victim_yields_only_to_one_that_waited_longer():  # Q3
    def victims(waited: int) -> list[int]:
        actors = [resident(1, 6, bid=9.0, runs=1, waited=70), off_pool(2, 6, waited=waited)]
        return suspended(MARKET.plan(scene(10, actors)))

    assert victims(70) == []
    assert victims(71) == [1]


def test_shared_pages_are_free_only_when_their_last_holder_went():  # R1, T16
    runs = (SharedRun(7, 6, 2),)
    actors = [
        resident(1, 1, bid=0.1, shared=(7,)),
        resident(2, 1, bid=0.2, shared=(7,)),
        off_pool(3, 8, bid=1.0),
    ]
    plan = MARKET.plan(scene(8, actors, shared=runs))
    assert (suspended(plan), plan.restores) == ([1, 2], (3,))


def test_a_victim_whose_pages_all_stay_with_others_is_spared():  # Q3
    runs = (SharedRun(7, 6, 2),)
    actors = [
        resident(1, 0, bid=0.1, shared=(7,)),
        resident(2, 0, bid=9.0, shared=(7,)),
        resident(3, 4, bid=0.2),
        off_pool(4, 4, bid=1.0),
    ]
    assert suspended(MARKET.plan(scene(10, actors, shared=runs))) == [3]


def test_a_restore_does_not_count_pages_it_will_need_itself_as_freed():  # M6
    runs = (SharedRun(7, 6, 1),)
    actors = [resident(1, 1, bid=0.1, shared=(7,)), resident(2, 3, bid=0.2), off_pool(3, 3, bid=1.0, shared=(7,))]
    plan = MARKET.plan(scene(10, actors, shared=runs))
    assert (suspended(plan), plan.restores) == ([1, 2], (3,))


def test_a_restore_needs_shared_pages_that_an_earlier_decision_freed():  # M6
    runs = (SharedRun(7, 6, 1),)
    actors = [
        resident(1, 0, bid=0.1, shared=(7,)),
        off_pool(2, 6, bid=5.0),
        off_pool(3, 2, bid=1.0, shared=(7,)),
    ]
    plan = MARKET.plan(scene(8, actors, shared=runs))
    assert (plan.restores, waiting(plan)) == ((2,), [3])


def test_when_nothing_can_run_the_first_that_waits_is_due_at_once(each_policy: Policy):  # Q2, Q7
    actors = [resident(1, 9, bid=1e9), off_pool(2, 6, bid=0.0), off_pool(3, 6, bid=0.0)]
    assert each_policy.plan(scene(10, actors)).restores == ()
    plan = each_policy.plan(scene(10, actors, stalled=True))
    assert (suspended(plan), plan.restores) == ([1], (2,))


def test_a_stall_evicts_nobody_while_something_can_run(each_policy: Policy):  # Q2
    actors = [resident(1, 9, bid=1e9, runs=1), off_pool(2, 5, bid=0.0)]
    assert suspended(each_policy.plan(scene(10, actors, stalled=True))) == []


def test_a_context_that_is_suspended_is_not_said_to_wait():  # Q4.1, Q4.4
    asks = resident(1, 5, bid=2.0, wants=2, waited=1, defaulted=True)
    runs_first = resident(3, 3, fresh=True, runs=1)
    plan = MARKET.plan(scene(9, [asks, off_pool(2, 6), runs_first]))
    assert (suspended(plan), plan.restores, waiting(plan)) == ([1], (2,), [])


def test_equal_views_give_equal_plans(each_policy: Policy):
    view = scene(10, [resident(1, 6, bid=1.0, wants=2), off_pool(2, 8, bid=2.0), resident(3, 2, runs=1)])
    assert each_policy.plan(view) == each_policy.plan(view)


def test_the_window_says_when_a_context_is_due():  # Q2
    actors = [resident(1, 6, bid=9.0, runs=1), off_pool(2, 6, waited=8)]
    assert suspended(MARKET.plan(scene(10, actors, limits=Limits(aging_window_ticks=9)))) == []
    assert suspended(MARKET.plan(scene(10, actors, limits=Limits(aging_window_ticks=8)))) == [1]


def test_a_context_without_work_is_never_due():  # Q1, Q2
    actors = [resident(1, 6, bid=1.0, waited=100), resident(2, 4, bid=2.0, wants=3)]
    assert suspended(MARKET.plan(scene(10, actors))) == [1]
