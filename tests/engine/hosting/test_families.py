"""Processes that share the account of a launch root."""

import pytest

from pie_mlx import calls
from pie_mlx.engine.hosting.process import ProcessHost
from pie_mlx.errors import EngineStoppedError, InvalidArgumentError
from pie_mlx.events import AccountJoined, AccountLeft
from tests.engine.running import NoClient, Running, engine_alone, finished


@pytest.fixture
def engine():
    with engine_alone(dummy=True) as started:
        yield started


def child_of(engine: Running, parent: ProcessHost, **options: object) -> ProcessHost:
    return engine.core.open_process(
        username="tester", program="child", session=NoClient(), parent=parent.process_id, **options
    )


def test_a_child_has_its_parents_account(engine: Running) -> None:  # M1
    child = child_of(engine, engine.host)
    grandchild = child_of(engine, child)
    accounts = {engine.core.services.processes[host.process_id].account for host in (engine.host, child, grandchild)}
    assert len(accounts) == 1
    assert len([event for event in engine.events if isinstance(event, AccountJoined)]) == 1


def test_launching_creates_no_credits(engine: Running) -> None:  # M1
    before = engine.core.services.accounting.ledger.accounts
    child_of(engine, engine.host)
    assert engine.core.services.accounting.ledger.accounts == before


def test_the_account_is_closed_with_the_last_of_the_family(engine: Running) -> None:  # M1
    child = child_of(engine, engine.host)
    finished(engine.core.close_process(engine.host.process_id))
    assert not [event for event in engine.events if isinstance(event, AccountLeft)]
    finished(engine.core.close_process(child.process_id))
    assert len([event for event in engine.events if isinstance(event, AccountLeft)]) == 1
    assert engine.core.services.processes.families == {}


def test_the_contexts_of_the_whole_family_share_its_balance(engine: Running) -> None:  # B5
    model = engine.core.services.model_info.name
    context = engine.host.call(calls.CreateContext(model)).context
    engine.host.call(calls.ReservePages(context, 2))
    alone = engine.host.call(calls.Rebid(context, 100.0, 1.0))
    child = child_of(engine, engine.host)
    child.call(calls.ReservePages(child.call(calls.CreateContext(model)).context, 2))
    assert engine.host.call(calls.Rebid(context, 100.0, 1.0)) == pytest.approx(alone / 2)


def test_a_parent_that_ended_has_no_more_children(engine: Running) -> None:
    finished(engine.core.close_process(engine.host.process_id))
    with pytest.raises(EngineStoppedError, match="it has ended"):
        child_of(engine, engine.host)


def test_a_child_has_no_budget_of_its_own(engine: Running) -> None:
    with pytest.raises(InvalidArgumentError, match="token_budget"):
        child_of(engine, engine.host, token_budget=5)


@pytest.mark.parametrize("call", [calls.Push("t", "x"), calls.LaunchChild("x"), calls.ListMcpServers()])
def test_without_a_runtime_there_is_nobody_else(engine: Running, call: calls.Call[object]) -> None:
    with pytest.raises(EngineStoppedError, match="no runtime around it"):
        engine.host.call(call)
