"""Pages that are to be left unused: the cheapest contexts give them."""

import msgspec
import pytest

from pie_mlx.engine.policies import POLICIES, Policy, ReasonKind, SharedRun, View, policy
from tests.engine.policies.scenes import off_pool, ran, resident, scene, suspended, waiting

MARKET = policy("market")


def withholding(pages: int, view: View) -> View:
    return msgspec.structs.replace(view, withhold_pages=pages)


@pytest.fixture(params=POLICIES)
def each_policy(request: pytest.FixtureRequest) -> Policy:
    return policy(request.param)


def test_nobody_gives_pages_while_enough_are_available(each_policy: Policy) -> None:
    plan = each_policy.plan(withholding(10, scene(20, [resident(1, 5, runs=1), resident(2, 5, runs=1)])))
    assert (plan.suspensions, ran(plan)) == ((), [1, 2])


def test_the_lowest_bids_go_first_and_no_more_than_are_needed() -> None:
    actors = [resident(1, 5, bid=3.0, runs=1), resident(2, 5, bid=1.0, runs=1), resident(3, 5, bid=2.0, runs=1)]
    plan = MARKET.plan(withholding(9, scene(20, actors)))
    assert (suspended(plan), ran(plan)) == ([2], [1, 3])
    (suspension,) = plan.suspensions
    assert (suspension.reason.kind, suspension.for_context) == (ReasonKind.MEMORY, 2)


def test_the_last_context_keeps_its_pages_and_goes_on(each_policy: Policy) -> None:
    actors = [resident(1, 5, runs=1), resident(2, 5, runs=1), resident(3, 5, runs=1)]
    plan = each_policy.plan(withholding(20, scene(20, actors)))
    assert len(plan.suspensions) == 2
    assert len(ran(plan)) == 1


def test_what_is_withheld_serves_no_request() -> None:
    actors = [resident(1, 5, bid=3.0, wants=6), off_pool(2, 4, bid=1.0)]
    plan = MARKET.plan(withholding(9, scene(20, actors)))
    assert (plan.grants, plan.restores, waiting(plan)) == ((1,), (), [2])


def test_a_shared_page_is_free_when_its_last_holder_has_gone() -> None:
    actors = [
        resident(1, 1, bid=1.0, runs=1, shared=(7,)),
        resident(2, 1, bid=2.0, runs=1, shared=(7,)),
        resident(3, 1, bid=3.0, runs=1),
    ]
    plan = MARKET.plan(withholding(6, scene(8, actors, shared=(SharedRun(7, 5, 2),))))
    assert suspended(plan) == [1, 2]
