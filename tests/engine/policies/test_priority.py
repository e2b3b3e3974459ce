from pie_mlx.engine.policies import Limits, ReasonKind, policy
from tests.engine.policies.scenes import off_pool, ran, resident, scene, suspended

PRIORITY = policy("priority")


def test_the_lowest_priority_yields_first():
    actors = [resident(1, 4, bid=1.0), resident(2, 4, bid=2.0), resident(3, 4, bid=3.0, wants=2)]
    plan = PRIORITY.plan(scene(12, actors))
    assert suspended(plan) == [1]
    assert plan.suspensions[0].reason.kind is ReasonKind.OUTBID


def test_of_equal_priorities_the_newer_yields():
    actors = [off_pool(1, 6, bid=1.0), resident(2, 6, bid=1.0)]
    plan = PRIORITY.plan(scene(10, actors))
    assert (suspended(plan), plan.restores) == ([2], (1,))
    assert plan.suspensions[0].reason.kind is ReasonKind.NEWER


def test_waiting_does_not_raise_a_priority_before_the_context_is_due():
    actors = [resident(1, 1, runs=1, bid=0.0, waited=63), resident(2, 1, runs=1, bid=0.1)]
    assert ran(PRIORITY.plan(scene(10, actors, limits=Limits(max_batch_contexts=1)))) == [2]


def test_a_due_context_comes_first():  # Q2
    actors = [resident(1, 1, runs=1, bid=0.0, waited=64), resident(2, 1, runs=1, bid=9.0)]
    assert ran(PRIORITY.plan(scene(10, actors, limits=Limits(max_batch_contexts=1)))) == [1]
