from pie_mlx.engine.policies import Limits, ReasonKind, policy
from tests.engine.policies.scenes import off_pool, ran, resident, scene, suspended

FIRST_COME = policy("fcfs")


def test_the_newest_gives_its_pages_to_an_older_one():
    actors = [resident(1, 4, wants=2, bid=0.0), resident(2, 4, bid=9.0), resident(3, 4, bid=9.0)]
    plan = FIRST_COME.plan(scene(12, actors))
    assert (suspended(plan), plan.grants) == ([3], (1,))
    assert plan.suspensions[0].reason.kind is ReasonKind.NEWER


def test_the_newest_makes_way_itself_whatever_it_bids():
    actors = [resident(1, 6, bid=0.0), resident(2, 4, bid=9.0, wants=1)]
    assert suspended(FIRST_COME.plan(scene(10, actors))) == [2]


def test_the_oldest_comes_back_first():
    actors = [resident(1, 4), off_pool(2, 6, bid=0.0), off_pool(3, 6, bid=9.0)]
    assert FIRST_COME.plan(scene(10, actors)).restores == (2,)


def test_rows_go_by_arrival():
    actors = [resident(n, 1, runs=1, bid=float(n)) for n in (1, 2, 3)]
    assert ran(FIRST_COME.plan(scene(10, actors, limits=Limits(max_batch_contexts=2)))) == [1, 2]


def test_nothing_has_a_price():
    actors = [resident(1, 6, bid=3.0), off_pool(2, 6, bid=2.0)]
    assert FIRST_COME.plan(scene(10, actors)).waits[0].reason.price == 0.0
    assert not FIRST_COME.sells_pages
