import msgspec
import pytest

from pie_mlx.engine import policies
from pie_mlx.engine.policies import POLICIES, Plan, SharedRun, View, policy
from pie_mlx.errors import InvalidArgumentError
from tests.engine.policies.scenes import off_pool, resident, scene


def test_there_are_three_policies():
    assert POLICIES == ("market", "fcfs", "priority")


def test_an_unknown_policy_is_refused_with_the_names_there_are():
    with pytest.raises(InvalidArgumentError, match="'lottery': unknown") as caught:
        policy("lottery")
    assert caught.value.hint == "choose one of market, fcfs, priority"


def test_only_the_market_sells_pages():
    assert [policy(name).sells_pages for name in POLICIES] == [True, False, False]


def test_everything_public_can_be_imported():
    assert all(hasattr(policies, name) for name in policies.__all__)


@pytest.mark.parametrize("name", POLICIES)
def test_an_empty_engine_has_an_empty_plan(name: str):
    assert policy(name).plan(View(0, 10, 10)) == Plan()


def test_views_and_plans_survive_a_log():
    actors = [resident(1, 2, bid=1.0, shared=(7,), wants=2), off_pool(2, 8, bid=2.0), resident(3, 2, runs=1)]
    view = scene(10, actors, shared=(SharedRun(7, 3, 1),))
    logged = msgspec.json.decode(msgspec.json.encode(view), type=View)
    plan = policy("market").plan(view)
    assert policy("market").plan(logged) == plan
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan
